"""YAML in and out as the original does it: YAML 1.1 as Go reads it, made of and into JSON values.

`loads` reads the first document; `dumps` writes what `loads` and any other YAML 1.1 reader take for the same value.
"""

from __future__ import annotations

from pilothouse.machinery.yamlcodec.read import YAMLError, duplicates_text, loads, loads_noting
from pilothouse.machinery.yamlcodec.write import dumps

__all__ = ["YAMLError", "dumps", "duplicates_text", "loads", "loads_noting"]
