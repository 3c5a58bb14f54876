"""Kinds of the group `coordination`, one file each."""
