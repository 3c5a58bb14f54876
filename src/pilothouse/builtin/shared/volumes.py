"""Volumes of pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import eq, itemgetter
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos
from pilothouse.builtin.shared.claims import claim_template
from pilothouse.builtin.shared.projected import downward_files, key_paths, mode, projected
from pilothouse.builtin.shared.volumesources import COMMON, LONG_TARGET, git_repo, needs, one_source
from pilothouse.kit.runs import RUN, doubtful
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, Rule, one_of

_PULL_POLICIES: Final = one_of("Always", "IfNotPresent", "Never")

Object = Mapping[str, Any]


def _empty_dir(value: Object, field: Field) -> None:
    limit = value.get("sizeLimit")
    if limit is not None and nanos(limit) < 0:
        field.forbidden("sizeLimit", "SizeLimit field must be a valid resource quantity")


def _keyed(name: str) -> Rule:
    """A ConfigMap or a Secret as files."""

    def run(value: Object, field: Field) -> None:
        if not value.get(name):
            field.required(name)
        mode("defaultMode", value.get("defaultMode"), field)
        key_paths(value.get("items") or (), field)

    return run


def _downward(value: Object, field: Field) -> None:
    mode("defaultMode", value.get("defaultMode"), field)
    downward_files(value.get("items") or (), field)


def _csi(value: Object, field: Field) -> None:
    driver = value.get("driver", "")
    if not driver:
        field.required("driver")
    else:
        csi_driver(driver, field)
    secret = value.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name", "")
        if not name:
            field.required("nodePublishSecretRef.name")
        else:
            field.all_invalid("name", name, words.subdomain(name))  # told so by the original


def csi_driver(driver: str, field: Field) -> None:
    """A driver's name, told at `driver`."""
    if len(driver) > 63:
        field.too_long("driver", 63)
    field.all_invalid("driver", driver, words.subdomain(driver.lower()))


def _ephemeral(value: Object, field: Field) -> None:
    template = value.get("volumeClaimTemplate")
    if template is None:
        field.required("volumeClaimTemplate")
    else:
        field.within("volumeClaimTemplate", claim_template, template)


def _image(value: Object, field: Field) -> None:
    if not value.get("reference"):
        field.required("reference")
    policy = value.get("pullPolicy", "")
    if policy:
        field.within("pullPolicy", _PULL_POLICIES, policy)


# In the order in which the original looks for more than one.
_SOURCES: Final[dict[str, Rule]] = {
    "emptyDir": _empty_dir,
    "hostPath": COMMON["hostPath"],
    "gitRepo": git_repo,
    **{name: COMMON[name] for name in ("gcePersistentDisk", "awsElasticBlockStore")},
    "secret": _keyed("secretName"),
    **{name: COMMON[name] for name in ("nfs", "iscsi", "glusterfs", "flocker")},
    "persistentVolumeClaim": needs("claimName"),
    **{name: COMMON[name] for name in ("rbd", "cinder", "cephfs", "quobyte")},
    "downwardAPI": _downward,
    "fc": COMMON["fc"],
    "flexVolume": COMMON["flexVolume"],
    "configMap": _keyed("name"),
    **{
        name: COMMON[name]
        for name in (
            "azureFile",
            "vsphereVolume",
            "photonPersistentDisk",
            "portworxVolume",
            "azureDisk",
            "storageos",
            "scaleIO",
        )
    },
    "projected": projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}


def _source(value: Object, field: Field, pod: str) -> None:
    if not one_source(value, _SOURCES, field):
        field.required("", "must specify a volume type")
    name = value.get("name", "")
    if "iscsi" in value:
        iscsi = value["iscsi"] or {}
        if iscsi.get("initiatorName") is not None and len(f"{name}:{iscsi.get('targetPortal', '')}") > 64:
            field.invalid("name", name, LONG_TARGET)
    elif "ephemeral" in value and pod and name:
        claim = f"{pod}-{name}"
        for why in words.subdomain(claim):
            field.invalid("name", name, f'PVC name "{claim}": {why}')


def volumes(items: Sequence[Object], field: Field, pod: str = "") -> dict[str, Object]:
    """Judge `volumes`, told from the list; return them by name. `pod`: the pod's name, empty for a template."""
    found: dict[str, Object] = {}
    claims = [one for one in items if "ephemeral" in one] if pod else []
    made = {f"{pod}-{one.get('name', '')}" for one in claims if one["ephemeral"] is not None}
    one_each = len(items) > RUN and len({one.get("name") for one in items}) == len(items)
    seen: set[int] = set()
    for index, value in doubtful(items, _are_plain) if one_each else enumerate(items):
        seen.add(index)
        before = len(field.found)
        _source(value, field, pod)
        name = value.get("name", "")
        if not name:
            field.required("name")
        else:
            whys = words.label(name)
            if whys:
                field.all_invalid("name", name, whys)
            elif name in found:
                field.duplicate("name", name)
            elif len(field.found) == before:  # what is refused is not there for mounts either
                found[name] = value
        if made and (value.get("persistentVolumeClaim") or {}).get("claimName") in made:
            claim = value["persistentVolumeClaim"]["claimName"]
            why = "must not reference a PVC that gets created for an ephemeral volume"
            field.invalid("persistentVolumeClaim.claimName", claim, why)
        if len(field.found) > before:
            field.prefix(before, f"[{index}]")
            if field.full:
                break
    if one_each and not field.full:
        found.update((value["name"], value) for index, value in enumerate(items) if index not in seen)
    return found


def _are_plain(values: Sequence[Object]) -> bool:
    """Whether they are empty directories with a good name, and say no more."""
    if set(map(len, values)) != {2}:
        return False
    try:
        found = list(map(itemgetter("name", "emptyDir"), values))
    except KeyError:
        return False
    names, directories = zip(*found, strict=True)
    return all(map(eq, directories, repeat({}))) and words.are_labels(names)
