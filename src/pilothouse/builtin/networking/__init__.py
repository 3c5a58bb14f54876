"""networking.k8s.io: ingresses, network policies, service ranges."""
