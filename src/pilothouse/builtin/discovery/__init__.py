"""discovery.k8s.io: endpoint slices."""
