"""authentication.k8s.io: questions about identity."""
