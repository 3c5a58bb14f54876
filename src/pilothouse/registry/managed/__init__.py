"""The parts of `registry.managedfields`: entries, conflicts, and what kubectl's client-side apply left behind."""
