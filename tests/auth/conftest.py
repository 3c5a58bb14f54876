"""Makes the helpers beside this file importable."""
