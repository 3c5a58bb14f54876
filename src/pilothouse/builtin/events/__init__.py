"""events.k8s.io: another view of the core group's events."""
