"""storagemigration.k8s.io: migrations of stored versions."""
