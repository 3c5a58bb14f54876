"""metadata.managedFields: who owns which fields, and what kubectl's client-side apply left behind."""
