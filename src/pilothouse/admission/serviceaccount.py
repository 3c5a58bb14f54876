"""ServiceAccount: every pod runs as an account of its namespace, and finds a token of it in its files (Kubernetes
documentation, "Configure Service Accounts for Pods").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from pilothouse.admission.accountsecrets import unreferenced_secret
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Object, Resource

DEFAULT: Final = "default"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME: Final = "kube-api-access-"
_TOKEN_SECONDS: Final = 3607
_MIRROR: Final = "kubernetes.io/config.mirror"
_TRIES: Final = 10  # for the default account of a namespace that was just made


class ServiceAccount:
    """`accounts` reads the service accounts; `new_name` makes a name of a prefix; `pause` waits a moment for the
    controller that makes default accounts.
    """

    name = "ServiceAccount"

    def __init__(self, accounts: Reader, new_name: Callable[[str], str], pause: Callable[[], Awaitable[None]]) -> None:
        self._accounts = accounts
        self._new_name = new_name
        self._pause = pause

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.operation != CREATE or attributes.write.subresource or _is_mirror(obj):
            return
        spec = obj.setdefault("spec", {})
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = DEFAULT
        spec["serviceAccount"] = spec["serviceAccountName"]
        account = await self._account(spec["serviceAccountName"], attributes)
        if _mounts(spec, account):
            self._mount(spec)
        pulls = account.get("imagePullSecrets")
        if pulls and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [dict(one) for one in pulls]

    async def check(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.write.subresource != ("" if attributes.operation == CREATE else _DEBUGGING):
            return
        if _is_mirror(obj):
            why = _refused_mirror(obj["spec"])
            if why:
                raise refuse(attributes, why)
            return
        account = await self._account(obj["spec"].get("serviceAccountName") or DEFAULT, attributes)
        why = unreferenced_secret(obj["spec"], account)
        if why:
            raise refuse(attributes, why)

    async def _account(self, name: str, attributes: Attributes) -> Object:
        namespace = attributes.write.namespace
        found = await self._accounts.get(namespace, name)
        for _ in range(_TRIES - 1 if name == DEFAULT else 0):
            if found is not None:
                break
            await self._pause()
            found = await self._accounts.get(namespace, name)
        if found is None:
            why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
            raise refuse(attributes, why)
        return found

    def _mount(self, spec: dict[str, Any]) -> None:
        """Mount the token where nothing else is mounted, and add its volume if that was anywhere."""
        volumes = spec.get("volumes") or []
        names = {one.get("name", "") for one in volumes}
        held = next((name for name in sorted(names) if name.startswith(_VOLUME)), None)
        name = held or self._unused(names)
        mounted = False
        for container in _containers(spec):
            mounts = container.get("volumeMounts") or []
            if any(one.get("mountPath") == MOUNT_PATH for one in mounts):
                continue
            container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
            mounted = True
        if mounted and held is None:
            spec["volumes"] = [*volumes, _volume(name)]

    def _unused(self, names: set[str]) -> str:
        name = self._new_name(_VOLUME)
        while name in names:
            name = self._new_name(_VOLUME)
        return name


_DEBUGGING: Final = "ephemeralcontainers"


def _is_mirror(pod: Object) -> bool:
    return _MIRROR in ((pod.get("metadata") or {}).get("annotations") or {})


def _containers(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind in ("initContainers", "containers"):
        yield from spec.get(kind) or ()


def _mounts(spec: dict[str, Any], account: Object) -> bool:
    """The pod's word goes before the account's; mounting is the rule."""
    for holder in (spec, account):
        wanted = holder.get("automountServiceAccountToken")
        if wanted is not None:
            return bool(wanted)
    return True


def _volume(name: str) -> dict[str, Any]:
    """A token that is renewed, the authority of the API, and the namespace."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


def _refused_mirror(spec: dict[str, Any]) -> str:
    """A node's own pod has no account, and nothing that needs one."""
    if spec.get("serviceAccountName"):
        return "a mirror pod may not reference service accounts"
    for volume in spec.get("volumes") or ():
        sources = (volume.get("projected") or {}).get("sources") or ()
        if volume.get("secret") is not None or any(one.get("secret") is not None for one in sources):
            return "a mirror pod may not reference secrets"
        if any(one.get("serviceAccountToken") is not None for one in sources):
            return "a mirror pod may not use ServiceAccountToken volume projections"
    return ""
