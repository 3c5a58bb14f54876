"""Kinds of the group `core`, one file each."""
