"""Garbage collection by ownerReferences: the graph, the watches that feed it, the work that follows."""
