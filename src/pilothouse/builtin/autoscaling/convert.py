"""Between autoscaling/v1 and v2, in which autoscalers are stored: what v1 has no field for, it keeps as JSON in
annotations (API reference, "HorizontalPodAutoscaler"). An annotation that can't be read is dropped.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.autoscaling import metricforms
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder
from pilothouse.machinery.jsoncodec import JSONError, dumps, loads
from pilothouse.registry.resource import Convert

Object = dict[str, Any]
_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
METRICS: Final = _PREFIX + "metrics"
BEHAVIOR: Final = _PREFIX + "behavior"
CONDITIONS: Final = _PREFIX + "conditions"
CURRENT: Final = _PREFIX + "current-metrics"
_ALL: Final = (METRICS, BEHAVIOR, CONDITIONS, CURRENT)
_V1: Final = "k8s.io/api/autoscaling/v1"
_V2: Final = "k8s.io/api/autoscaling/v2"
_CONDITION: Final = ("type", "status", "lastTransitionTime", "reason", "message", "observedGeneration")
_COUNTS: Final = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
# The behaviour is kept as the original's own type: its members, and what each shows where it has no value.
_RULES: Final = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY: Final = ("type", "value", "periodSeconds")
_NAMES: Final = {name.lower(): name for name in ("scaleUp", "scaleDown", *_RULES, *_POLICY)}


def _to_hub(obj: Object, version: str) -> Object:
    """The v2 form of a v1 autoscaler."""
    metadata = dict(obj.get("metadata") or {})
    notes = dict(metadata.get("annotations") or {})
    kept = {name: notes.pop(name) for name in _ALL if name in notes}
    if kept:
        metadata["annotations"] = notes
        if not notes:
            del metadata["annotations"]
    return {
        **obj,
        "metadata": metadata,
        "spec": _spec(obj.get("spec") or {}, kept),
        "status": _status(obj.get("status") or {}, kept),
    }


def _from_hub(obj: Object, version: str) -> Object:
    """The v1 form of a v2 autoscaler."""
    metadata = dict(obj.get("metadata") or {})
    notes = {name: value for name, value in (metadata.get("annotations") or {}).items() if name not in _ALL}
    spec, more = _old_spec(obj.get("spec") or {})
    status, others = _old_status(obj.get("status") or {})
    notes.update(more | others)
    metadata.pop("annotations", None)
    if notes:
        metadata["annotations"] = dict(sorted(notes.items()))
    return {**obj, "metadata": _placed(metadata, obj.get("metadata") or {}), "spec": spec, "status": status}


def _placed(metadata: Object, before: Object) -> Object:
    """Members in the order of metadata, wherever the annotations came to stand."""
    if "annotations" not in metadata or "annotations" in before:
        order = [name for name in before if name in metadata]
        return {name: metadata[name] for name in order}
    behind = ("ownerReferences", "finalizers", "managedFields")
    ahead = {name: value for name, value in metadata.items() if name not in behind and name != "annotations"}
    rest = {name: metadata[name] for name in behind if name in metadata}
    return {**ahead, "annotations": metadata["annotations"], **rest}


# v1 -> v2


def _spec(spec: Object, kept: Object) -> Object:
    made: Object = {"scaleTargetRef": spec.get("scaleTargetRef") or {"kind": "", "name": ""}}
    if spec.get("minReplicas") is not None:
        made["minReplicas"] = spec["minReplicas"]
    made["maxReplicas"] = spec.get("maxReplicas", 0)
    metrics = metricforms.spec_to_v2(_listed(kept.get(METRICS), "MetricSpec"))
    share = spec.get("targetCPUUtilizationPercentage")
    if share is not None:
        metrics.append(_cpu({"target": {"type": "Utilization", "averageUtilization": share}}))
    if metrics:
        made["metrics"] = metrics
    behavior = _behavior(kept.get(BEHAVIOR))
    if behavior is not None:
        made["behavior"] = behavior
    return made


def _status(status: Object, kept: Object) -> Object:
    made: Object = {name: status[name] for name in _COUNTS if status.get(name) is not None}
    if not made.get("currentReplicas"):
        made.pop("currentReplicas", None)
    made.setdefault("desiredReplicas", 0)
    metrics = metricforms.status_to_v2(_listed(kept.get(CURRENT), "MetricStatus"))
    share = status.get("currentCPUUtilizationPercentage")
    if not metrics and share is not None:
        metrics = [_cpu({"current": {"averageUtilization": share}})]
    made["currentMetrics"] = metrics or None
    conditions = _listed(kept.get(CONDITIONS), "HorizontalPodAutoscalerCondition")
    if conditions:
        made["conditions"] = conditions
    return made


def _cpu(source: Object) -> Object:
    return {"type": "Resource", "resource": {"name": "cpu", **source}}


def _listed(text: str | None, kind: str) -> list[Object]:
    """The items of an annotation as their type has them; none where it can't be read."""
    if not text:
        return []
    decode = compile_decoder(builtin_types().get(_V1, kind))
    try:
        value = loads(text.encode())
        return [decode(item, Findings()) for item in value] if isinstance(value, list) else []
    except (JSONError, DecodeError):
        return []


def _behavior(text: str | None) -> Object | None:
    if not text:
        return None
    try:
        value = loads(text.encode())
        if not isinstance(value, dict):
            return None
        made: Object = compile_decoder(builtin_types().get(_V2, "HorizontalPodAutoscalerBehavior"))(
            _folded(value), Findings()
        )
        return made
    except (JSONError, DecodeError):
        return None


def _folded(value: Any) -> Any:
    """Names of members are read whatever their case."""
    if isinstance(value, dict):
        return {_NAMES.get(name.lower(), name): _folded(item) for name, item in value.items()}
    return [_folded(item) for item in value] if isinstance(value, list) else value


# v2 -> v1


def _old_spec(spec: Object) -> tuple[Object, dict[str, str]]:
    made: Object = {name: spec[name] for name in ("scaleTargetRef", "minReplicas", "maxReplicas") if name in spec}
    others = []
    for metric in spec.get("metrics") or ():
        share = _cpu_share(metric, "target")
        if share is None:
            others.append(metric)
        else:
            made["targetCPUUtilizationPercentage"] = share
    notes = {METRICS: _text(metricforms.spec_to_v1(others))} if others else {}
    if spec.get("behavior") is not None:
        notes[BEHAVIOR] = _text(_old_behavior(spec["behavior"]))
    return made, notes


def _old_status(status: Object) -> tuple[Object, dict[str, str]]:
    made: Object = {name: status[name] for name in _COUNTS if name in status}
    made.setdefault("currentReplicas", 0)
    made.setdefault("desiredReplicas", 0)
    made = {name: made[name] for name in _COUNTS if name in made}
    notes = {}
    metrics = status.get("currentMetrics") or []
    for metric in metrics:
        share = _cpu_share(metric, "current")
        if share is not None:
            made["currentCPUUtilizationPercentage"] = share
    if metrics:
        notes[CURRENT] = _text(metricforms.status_to_v1(metrics))
    if status.get("conditions"):
        notes[CONDITIONS] = _text([_condition(one) for one in status["conditions"]])
    return made, notes


def _cpu_share(metric: Object, member: str) -> int | None:
    """The utilization of a metric that v1 has a field for."""
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    share: int | None = (resource.get(member) or {}).get("averageUtilization")
    return share


def _condition(one: Object) -> Object:
    shown = {"lastTransitionTime": None, **one}
    return {key: shown[key] for key in _CONDITION if key in shown}


def _old_behavior(behavior: Object) -> Object:
    return {_upper(way): _old_rules(behavior.get(way)) for way in ("scaleUp", "scaleDown")}


def _old_rules(rules: Object | None) -> Object | None:
    if rules is None:
        return None
    made: Object = {_upper(name): rules.get(name) for name in _RULES}
    if made["Policies"] is not None:
        made["Policies"] = [{_upper(name): policy.get(name) for name in _POLICY} for policy in made["Policies"]]
    return made


def _upper(name: str) -> str:
    return name[0].upper() + name[1:]


def _text(value: Any) -> str:
    return dumps(value).decode()


autoscalers: Final = Convert(_to_hub, _from_hub)
