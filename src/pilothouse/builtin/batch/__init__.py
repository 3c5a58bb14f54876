"""Kinds of the group `batch`, one file each."""
