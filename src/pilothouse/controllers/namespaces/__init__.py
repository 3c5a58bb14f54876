"""Deletion of namespaces: their content in order, what is told of it in conditions, and the last finalizer."""
