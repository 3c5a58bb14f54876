"""lifecycle.k8s.io."""
