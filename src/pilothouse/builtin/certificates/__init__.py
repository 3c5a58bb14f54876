"""certificates.k8s.io: requests and trust bundles."""
