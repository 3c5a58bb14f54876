"""scheduling.k8s.io: priority classes, workloads."""
