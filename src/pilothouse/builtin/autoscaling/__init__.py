"""Kinds of the group `autoscaling`, one file each."""
