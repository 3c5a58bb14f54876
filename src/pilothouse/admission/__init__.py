"""The plug-ins between a decoded object and the store."""
