"""Structural schemas of custom resources: read once from a definition, and compiled where they are first needed.

`node.py` reads a schema, `types.py` makes the `machinery.schema.Schema` of it, `settle.py` prunes and defaults,
`check.py` says whether a value is valid and `explain.py` why it is not.
"""

from __future__ import annotations
