"""Who asks and whether they may: pure decisions, no HTTP."""
