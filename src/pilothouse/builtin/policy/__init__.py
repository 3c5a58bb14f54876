"""Kinds of the group `policy`, one file each."""
