"""internal.apiserver.k8s.io: storage versions."""
