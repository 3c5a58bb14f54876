"""apiextensions.k8s.io: definitions of custom resources."""
