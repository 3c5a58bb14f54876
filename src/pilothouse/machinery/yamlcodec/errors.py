"""What reading and writing YAML may end in: apart, so that nobody loads a parser to catch its errors."""

from __future__ import annotations


class YAMLError(ValueError):
    """Not YAML; the text is Go's (`yaml: line 3: ...`)."""
