"""What kubectl's client-side apply left: an annotation with its last configuration, which server-side apply honours
for kubectl.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed import applied, compare, problems
from pilothouse.machinery.typed.fieldset import Node, subtract

KUBECTL: Final = "kubectl"  # the manager's name that takes part in this
ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
MAX_ANNOTATIONS: Final = 256 * 1024  # bytes, keys and values of all annotations


def configuration(obj: dict[str, Any]) -> str:
    """The annotation's text, "" if there is none."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return annotations.get(ANNOTATION) or ""


def agreed(schema: Schema, live: dict[str, Any], api_version: str) -> Node:
    """The fields of the last configuration that are still in the live object as they were applied: kubectl may change
    those.
    """
    text = configuration(live)
    if not text:
        return {}
    try:
        last = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(last, dict) or last.get("apiVersion") != api_version or problems(schema, last):
        return {}
    gained, lost = compare(schema, last, live)
    return subtract(subtract(applied(schema)(last), gained), lost)


def renewed(obj: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The object with the annotation set to `config`, where it has the annotation; without it where that would be too
    large.
    """
    if not configuration(obj):
        return obj
    metadata = dict(obj["metadata"])
    annotations = dict(metadata["annotations"])
    annotations[ANNOTATION] = _text(config)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > MAX_ANNOTATIONS:
        del annotations[ANNOTATION]
    metadata["annotations"] = annotations
    return {**obj, "metadata": metadata}


def _text(config: dict[str, Any]) -> str:
    """The configuration as kubectl writes it: sorted keys, HTML characters escaped, a newline at the end."""
    metadata = config.get("metadata") or {}
    if ANNOTATION in (metadata.get("annotations") or {}):
        annotations = {key: value for key, value in metadata["annotations"].items() if key != ANNOTATION}
        config = {**config, "metadata": {**metadata, "annotations": annotations}}
    text = json.dumps(config, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text + "\n"
