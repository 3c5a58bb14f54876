"""Pieces that several built-in kinds share, one file a piece: pod templates, containers, volumes, selectors ..."""
