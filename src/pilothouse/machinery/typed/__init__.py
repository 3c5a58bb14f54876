"""Objects as sets of fields: who owns what, what an update changed, and how an applied configuration is merged.

Pure functions over decoded JSON, driven by `Schema`; sets are in the form of `fieldsV1` (see `fieldset`). Values are
shared, so callers must not change in place what goes in or comes out.
"""

from pilothouse.machinery.typed.compare import compare
from pilothouse.machinery.typed.create import created
from pilothouse.machinery.typed.fieldset import Node
from pilothouse.machinery.typed.merge import merge
from pilothouse.machinery.typed.own import added, applied
from pilothouse.machinery.typed.prune import prune
from pilothouse.machinery.typed.validate import problems

__all__ = ["Node", "added", "applied", "compare", "created", "merge", "problems", "prune"]
