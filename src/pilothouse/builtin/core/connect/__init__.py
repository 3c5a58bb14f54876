"""Subresources of the core group that reach through the server: to kubelets, pods, services."""
