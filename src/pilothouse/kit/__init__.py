"""Clocks, metrics and other small tools that know nothing of pilothouse."""
