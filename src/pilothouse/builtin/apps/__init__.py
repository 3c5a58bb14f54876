"""Kinds of the group `apps`, one file each."""
