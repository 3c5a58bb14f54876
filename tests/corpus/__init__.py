"""Other people's manifests, where the shared folder is there."""
