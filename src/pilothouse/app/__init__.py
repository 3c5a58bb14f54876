"""The commands, their settings, key material, and the server they start."""
