"""The libraries of functions, each a table."""
