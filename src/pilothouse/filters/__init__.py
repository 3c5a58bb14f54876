"""The filter chain: one file a filter, listed outermost first in chain.py."""
