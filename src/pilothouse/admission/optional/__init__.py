"""Plug-ins that are off unless asked for (--enable-admission-plugins)."""
