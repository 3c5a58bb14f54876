"""authorization.k8s.io: questions about permission."""
