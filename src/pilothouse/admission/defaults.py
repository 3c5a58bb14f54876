"""The plug-ins by name, in the original's order, which are on without any flag, and how a choice is made of them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import field
from datetime import datetime
from typing import Final

from pilothouse.admission import certificates, defaultclasses, inuse
from pilothouse.admission.claimresize import PersistentVolumeClaimResize
from pilothouse.admission.limitranger import LimitRanger
from pilothouse.admission.lookups import StoreReader, Stores
from pilothouse.admission.namespacelifecycle import Lookup, NamespaceLifecycle
from pilothouse.admission.nodetaints import TaintNodesByCondition
from pilothouse.admission.optional.always import AlwaysAdmit, AlwaysDeny
from pilothouse.admission.optional.namespaces import NamespaceAutoProvision, NamespaceExists
from pilothouse.admission.optional.noderestriction import NodeRestriction
from pilothouse.admission.optional.nodeselector import PodNodeSelector
from pilothouse.admission.optional.ownerreferences import OwnerReferencesPermissionEnforcement
from pilothouse.admission.optional.pods import (
    AlwaysPullImages,
    ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology,
)
from pilothouse.admission.optional.services import DenyServiceExternalIPs
from pilothouse.admission.optional.tolerations import PodTolerationRestriction
from pilothouse.admission.plugin import Plugin
from pilothouse.admission.podresize import NodeDeclaredFeatureValidator, PodResizeValidator
from pilothouse.admission.podsecurity.metrics import PodSecurityMetrics
from pilothouse.admission.podsecurity.plugin import PodSecurity
from pilothouse.admission.policies.known import Policies
from pilothouse.admission.policies.metrics import PolicyMetrics
from pilothouse.admission.policies.mutating import MutatingAdmissionPolicy
from pilothouse.admission.policies.params import CustomKinds, stored
from pilothouse.admission.policies.plugin import Around as PolicyNeeds
from pilothouse.admission.policies.policy import MutatingPolicy, ValidatingPolicy
from pilothouse.admission.policies.validating import ValidatingAdmissionPolicy
from pilothouse.admission.priority import Priority
from pilothouse.admission.quota.plugin import ResourceQuota
from pilothouse.admission.runtimeclass import RuntimeClass
from pilothouse.admission.serviceaccount import ServiceAccount
from pilothouse.admission.tolerations import DefaultTolerationSeconds
from pilothouse.admission.topologylabels import PodTopologyLabels
from pilothouse.admission.webhooks.calls import Calling
from pilothouse.admission.webhooks.hooks import Hooks
from pilothouse.admission.webhooks.plugins import Around, MutatingAdmissionWebhook, ValidatingAdmissionWebhook
from pilothouse.kit.metrics import Registry
from pilothouse.kit.record import record
from pilothouse.machinery.names import generate_name

RETRY: Final = 0.1  # seconds between looks for a default account that is still to be made


def _random_name(base: str) -> str:
    return generate_name(base, choose=random.choice)


async def _a_moment() -> None:
    await asyncio.sleep(RETRY)


@record
class Webhooks:
    """The webhooks of both kinds of configuration, what calls of them need, and the policies. `custom`: where their
    parameters of custom kinds are.
    """

    mutating: Hooks
    validating: Hooks
    calling: Calling
    judging: Policies[ValidatingPolicy]
    changing: Policies[MutatingPolicy]
    custom: CustomKinds
    metrics: PolicyMetrics


@record
class PluginNeeds:
    """What plug-ins take from outside. `stores` may still be empty; `service_accounts`: whether pods need one;
    `webhooks` None: none are asked.
    """

    stores: Stores
    now: Callable[[], datetime]
    authorize: certificates.Authorize
    service_accounts: bool = True
    new_name: Callable[[str], str] = _random_name
    pause: Callable[[], Awaitable[None]] = _a_moment
    webhooks: Webhooks | None = None
    registry: Registry = field(default_factory=Registry)

    def kind(self, group: str, plural: str) -> StoreReader:
        return StoreReader(self.stores, group, plural)

    @property
    def namespaces(self) -> StoreReader:
        return self.kind("", "namespaces")

    @property
    def storage_classes(self) -> StoreReader:
        return self.kind("storage.k8s.io", "storageclasses")


def _lookup(namespaces: StoreReader) -> Lookup:
    return lambda name: namespaces.get("", name)


def _pod_security(needs: PluginNeeds) -> PodSecurity:
    return PodSecurity(needs.namespaces, needs.kind("", "pods"), PodSecurityMetrics(needs.registry))


Make = Callable[[PluginNeeds], Plugin]
# Name, maker, whether it is on without any flag.
_FIRST: Final[tuple[tuple[str, Make, bool], ...]] = (
    ("AlwaysAdmit", lambda needs: AlwaysAdmit(), False),
    (
        "NamespaceAutoProvision",
        lambda needs: NamespaceAutoProvision(needs.namespaces, needs.stores, needs.now),
        False,
    ),
    ("NamespaceLifecycle", lambda needs: NamespaceLifecycle(_lookup(needs.namespaces)), True),
    ("NamespaceExists", lambda needs: NamespaceExists(needs.namespaces), False),
    ("LimitPodHardAntiAffinityTopology", lambda needs: LimitPodHardAntiAffinityTopology(), False),
    ("LimitRanger", lambda needs: LimitRanger(needs.kind("", "limitranges")), True),
    (
        "ServiceAccount",
        lambda needs: ServiceAccount(needs.kind("", "serviceaccounts"), needs.new_name, needs.pause),
        True,
    ),
    ("NodeRestriction", lambda needs: NodeRestriction(), False),
    ("TaintNodesByCondition", lambda needs: TaintNodesByCondition(), True),
    ("AlwaysPullImages", lambda needs: AlwaysPullImages(), False),
    ("PodSecurity", _pod_security, True),
    ("PodNodeSelector", lambda needs: PodNodeSelector(needs.namespaces), False),
    ("Priority", lambda needs: Priority(needs.kind("scheduling.k8s.io", "priorityclasses")), True),
    ("DefaultTolerationSeconds", lambda needs: DefaultTolerationSeconds(), True),
    ("PodTolerationRestriction", lambda needs: PodTolerationRestriction(needs.namespaces), False),
    ("ExtendedResourceToleration", lambda needs: ExtendedResourceToleration(), False),
    ("DefaultStorageClass", lambda needs: defaultclasses.default_storage_class(needs.storage_classes), True),
    ("StorageObjectInUseProtection", lambda needs: inuse.storage_object_in_use_protection(), True),
    ("PodGroupProtection", lambda needs: inuse.pod_group_protection(), True),
    (
        "OwnerReferencesPermissionEnforcement",
        lambda needs: OwnerReferencesPermissionEnforcement(needs.authorize, needs.stores),
        False,
    ),
    ("PersistentVolumeClaimResize", lambda needs: PersistentVolumeClaimResize(needs.storage_classes), True),
    ("RuntimeClass", lambda needs: RuntimeClass(needs.kind("node.k8s.io", "runtimeclasses")), True),
    ("CertificateApproval", lambda needs: certificates.certificate_approval(needs.authorize), True),
    ("CertificateSigning", lambda needs: certificates.certificate_signing(needs.authorize), True),
    ("ClusterTrustBundleAttest", lambda needs: certificates.ClusterTrustBundleAttest(needs.authorize), True),
    ("CertificateSubjectRestriction", lambda needs: certificates.CertificateSubjectRestriction(), True),
    (
        "DefaultIngressClass",
        lambda needs: defaultclasses.default_ingress_class(needs.kind("networking.k8s.io", "ingressclasses")),
        True,
    ),
    ("DenyServiceExternalIPs", lambda needs: DenyServiceExternalIPs(), False),
    ("PodTopologyLabels", lambda needs: PodTopologyLabels(needs.kind("", "nodes")), True),
    (
        "NodeDeclaredFeatureValidator",
        lambda needs: NodeDeclaredFeatureValidator(needs.kind("", "nodes")),
        True,
    ),
    ("PodResizeValidator", lambda needs: PodResizeValidator(needs.kind("", "nodes")), True),
)
_ASKING: Final = (
    MutatingAdmissionPolicy.name,
    MutatingAdmissionWebhook.name,
    ValidatingAdmissionPolicy.name,
    ValidatingAdmissionWebhook.name,
)
_LAST: Final[tuple[tuple[str, Make, bool], ...]] = (
    (
        "ResourceQuota",
        lambda needs: ResourceQuota(needs.kind("", "resourcequotas"), needs.stores, needs.now),
        True,
    ),
    ("AlwaysDeny", lambda needs: AlwaysDeny(), False),
)
NAMES: Final = (*(name for name, _, _ in _FIRST), *_ASKING, *(name for name, _, _ in _LAST))


class UnknownPlugin(ValueError):
    """A plug-in was named that there is not."""


@record
class Choice:
    """Plug-ins that are switched on beside the default ones, and default ones that are switched off, by name."""

    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()

    @classmethod
    def of(cls, on: Iterable[str] = (), off: Iterable[str] = ()) -> Choice:
        """Raises UnknownPlugin."""
        made = cls(frozenset(on), frozenset(off))
        for name in sorted(made.on | made.off):
            if name not in NAMES:
                raise UnknownPlugin(f'"{name}" is not an admission plug-in; there are {", ".join(NAMES)}')
        return made

    def takes(self, name: str, default: bool, needs: PluginNeeds) -> bool:
        if name == "ServiceAccount" and not needs.service_accounts:
            default = False
        return name in self.on or (default and name not in self.off)


_DEFAULT: Final = Choice()


def default_plugins(needs: PluginNeeds, choice: Choice = _DEFAULT) -> list[Plugin]:
    """All chosen plug-ins."""
    return [*before_webhooks(needs, choice), *webhooks(needs, choice), *after_webhooks(needs, choice)]


def before_webhooks(needs: PluginNeeds, choice: Choice = _DEFAULT) -> list[Plugin]:
    return _made(_FIRST, needs, choice)


def webhooks(needs: PluginNeeds, choice: Choice = _DEFAULT) -> list[Plugin]:
    given = needs.webhooks
    if given is None:
        return []
    around = Around(needs.namespaces, given.calling, needs.authorize)
    evaluating = PolicyNeeds(
        needs.namespaces,
        needs.authorize,
        stored(needs.stores, given.custom),
        given.calling.aside,
        given.metrics,
        given.calling.conditions,
        given.calling.now,
    )
    made: list[Plugin] = [
        MutatingAdmissionPolicy(given.changing, evaluating),
        MutatingAdmissionWebhook(given.mutating, around),
        ValidatingAdmissionPolicy(given.judging, evaluating),
        ValidatingAdmissionWebhook(given.validating, around),
    ]
    return [plugin for plugin in made if choice.takes(plugin.name, True, needs)]


def after_webhooks(needs: PluginNeeds, choice: Choice = _DEFAULT) -> list[Plugin]:
    return _made(_LAST, needs, choice)


def _made(rows: Sequence[tuple[str, Make, bool]], needs: PluginNeeds, choice: Choice) -> list[Plugin]:
    return [make(needs) for name, make, default in rows if choice.takes(name, default, needs)]
