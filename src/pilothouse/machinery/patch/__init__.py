"""The three patches that are not apply: JSON Patch, JSON Merge Patch, Strategic Merge Patch.

Pure functions from decoded JSON to decoded JSON. What a patch does not touch is shared with the object that went in, so
neither may be changed in place. Errors are `APIError`s with the original's codes and texts.
"""

from pilothouse.machinery.patch.document import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Patch, parse_patch
from pilothouse.machinery.patch.errors import rejected, undecodable

__all__ = ["JSON_PATCH", "MERGE_PATCH", "STRATEGIC_PATCH", "Patch", "parse_patch", "rejected", "undecodable"]
