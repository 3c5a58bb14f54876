"""The three fields of JSONSchemaProps that hold a schema or something else: lists of schemas, a boolean, a list of
texts.

The original reads them by hand-written decoders: what is inside is not checked for unknown fields, and other JSON is
passed over.
"""

from __future__ import annotations

from typing import Final

OR_ARRAY: Final = "JSONSchemaPropsOrArray"
OR_BOOL: Final = "JSONSchemaPropsOrBool"
OR_STRINGS: Final = "JSONSchemaPropsOrStringArray"
JSON_SCHEMA_CHOICES: Final = frozenset((OR_ARRAY, OR_BOOL, OR_STRINGS))
