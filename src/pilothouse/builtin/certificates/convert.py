"""Between certificates.k8s.io/v1 and v1beta1 of pod certificate requests. They are stored as v1beta1, which has more:
the key and its proof apart.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.registry.resource import Convert

Object = dict[str, Any]
_ORDER: Final = (
    "signerName", "podName", "podUID", "serviceAccountName", "serviceAccountUID", "nodeName", "nodeUID",
    "maxExpirationSeconds", "pkixPublicKey", "proofOfPossession", "stubPKCS10Request", "unverifiedUserAnnotations",
)  # fmt: skip
_ONLY_OLD: Final[Object] = {"pkixPublicKey": None, "proofOfPossession": None}


def _to_hub(obj: Object, version: str) -> Object:
    found = {**(obj.get("spec") or {}), **_ONLY_OLD}
    return {**obj, "spec": {name: found[name] for name in _ORDER if name in found}}


def _from_hub(obj: Object, version: str) -> Object:
    return {**obj, "spec": {name: value for name, value in (obj.get("spec") or {}).items() if name not in _ONLY_OLD}}


requests: Final = Convert(_to_hub, _from_hub)
