"""The outermost server: who serves which version of which group, and the way to those that others serve."""
