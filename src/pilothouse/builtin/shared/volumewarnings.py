"""Warnings about volumes: sources that no longer work, and files that hide one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import is_whole
from pilothouse.machinery.warned import enough

# Source -> how it is called in the warning, and what there is to say.
OLD_SOURCES: Final = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_CERTIFICATE_PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")

Object = Mapping[str, Any]


def _items(value: Object, what: str) -> Iterator[tuple[str, str]]:
    for item in value.get("items") or ():
        yield item.get("path", "").rstrip("/"), what


def _projected(value: Object) -> Iterator[tuple[str, str]]:
    """(path, where it comes from) of every file of a projected volume."""
    for source in value.get("sources") or ():
        for kind, label in (("configMap", "ConfigMap"), ("secret", "Secret")):
            if source.get(kind) is not None:
                yield from _items(source[kind], f' ({label} "{source[kind].get("name", "")}")')
        if source.get("downwardAPI") is not None:
            yield from _items(source["downwardAPI"], " (DownwardAPI)")
        if source.get("serviceAccountToken") is not None:
            yield source["serviceAccountToken"].get("path", ""), " (ServiceAccountToken)"
        bundle = source.get("clusterTrustBundle")
        if bundle is not None:
            name = bundle.get("name") if bundle.get("name") is not None else bundle.get("signerName")
            yield bundle.get("path", ""), f' (ClusterTrustBundle "{name}")'
        certificate = source.get("podCertificate")
        if certificate is not None:
            for path in _CERTIFICATE_PATHS:
                if certificate.get(path):
                    yield certificate[path], f' (PodCertificate "{certificate.get("signerName", "")}")'


class _Folder:
    """What is known below a path: the files of that very path, and its folders."""

    __slots__ = ("files", "folders")

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []
        self.folders: dict[str, _Folder] = {}

    def all(self) -> Iterator[tuple[str, str]]:
        """The files of this path, and those below it."""
        left = [self]
        while left:
            folder = left.pop()
            yield from folder.files
            left.extend(folder.folders.values())


def _overlapping(label: str, files: Iterator[tuple[str, str]]) -> Iterator[str]:
    root = _Folder()
    for path, what in files:
        if not path:
            continue
        folder, hidden = root, []
        for step in path.split("/"):
            hidden += folder.files
            folder = folder.folders.setdefault(step, _Folder())
        hidden += folder.all()
        if hidden:
            others = ", ".join(f'"{other}"{source}' for other, source in sorted(hidden))
            yield f'{label}: overlapping paths: "{path}"{what} with {others}'
        folder.files.append((path, what))


def _files(volume: Object) -> Iterator[str]:
    label = f'volume "{volume.get("name", "")}"'
    if volume.get("configMap") is not None:
        source = volume["configMap"]
        yield from _overlapping(f'{label} (ConfigMap "{source.get("name", "")}")', _items(source, ""))
    elif volume.get("secret") is not None:
        source = volume["secret"]
        yield from _overlapping(f'{label} (Secret "{source.get("secretName", "")}")', _items(source, ""))
    elif volume.get("downwardAPI") is not None:
        yield from _overlapping(f"{label} (DownwardAPI)", _items(volume["downwardAPI"], ""))
    elif volume.get("projected") is not None:
        for source in volume["projected"].get("sources") or ():
            if not any(value is not None for value in source.values()):
                yield f"{label} (Projected) has no sources provided"
        yield from _overlapping(f"{label} (Projected)", _projected(volume["projected"]))


def volume_warnings(path: str, spec: Object) -> Iterator[str]:
    """About `volumes` of a spec at `path`: their sources, then their files."""
    volumes: Sequence[Object] = spec.get("volumes") or ()
    for index, volume in enumerate(volumes):
        for name in volume:
            if name in OLD_SOURCES:
                shown, what = OLD_SOURCES[name]
                yield f"{path}volumes[{index}].{shown}: {what}"
        claim = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        where = f"{path}volumes[{index}].ephemeral.volumeClaimTemplate.spec"
        yield from claim_warnings(where, claim.get("spec") or {})
    # Of many files in one place each is told with all others.
    yield from enough(text for volume in volumes for text in _files(volume))


def claim_warnings(path: str, spec: Object) -> Iterator[str]:
    """About the spec of a claim: bytes come whole."""
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is not None and not is_whole(storage):
        where = f"{path}.resources.requests[storage]"
        yield f'{where}: fractional byte value "{storage}" is invalid, must be an integer'
