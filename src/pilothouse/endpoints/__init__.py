"""One file a verb: from a request to the registry and back to bytes."""
