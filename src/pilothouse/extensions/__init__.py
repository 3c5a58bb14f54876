"""The innermost server: custom resources, and at last "not found"."""
