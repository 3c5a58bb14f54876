"""What nodes may do (Kubernetes documentation, "Using Node Authorization")."""
