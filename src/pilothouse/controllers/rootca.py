"""The ConfigMap `kube-root-ca.crt` in every namespace: what a Pod needs to trust the server (Kubernetes documentation,
"Managing Service Accounts").
"""

from __future__ import annotations

from pilothouse.controllers.context import Context
from pilothouse.controllers.everywhere import EverywhereController, Wanted
from pilothouse.controllers.streams import Object

NAME = "kube-root-ca.crt"
_DESCRIPTION = "kubernetes.io/description"
_TEXT = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def root_ca_publisher(context: Context) -> EverywhereController:
    data = {"ca.crt": context.root_ca}

    def make() -> Object:
        metadata = {"name": NAME, "annotations": {_DESCRIPTION: _TEXT}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    def restored(held: Object) -> Object | None:
        annotations = held["metadata"].get("annotations") or {}
        if held.get("data") == data and annotations.get(_DESCRIPTION) == _TEXT:
            return None
        metadata = {**held["metadata"], "annotations": {**annotations, _DESCRIPTION: _TEXT}}
        return {**held, "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    wanted = Wanted(
        "root-ca-cert-publisher",
        "configmaps",
        NAME,
        make,
        restored,
        metadata_only=False,
        queue="root_ca_cert_publisher",
    )
    return EverywhereController(context, wanted)
