"""What is let through with a warning."""

import base64
import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from writes import Kind

PODS = Kind("", "pods")
SECRETS = Kind("", "secrets")
SERVICES = Kind("", "services")
DEPLOYMENTS = Kind("apps", "deployments")
STATEFUL = Kind("apps", "statefulsets")
DAEMONS = Kind("apps", "daemonsets")
CONTROLLERS = Kind("", "replicationcontrollers")
JOBS = Kind("batch", "jobs")
ACCOUNTS = Kind("", "serviceaccounts")
NODES = Kind("", "nodes")
ENDPOINTS = Kind("", "endpoints")
CLASSES = Kind("storage.k8s.io", "storageclasses")
CAPACITIES = Kind("storage.k8s.io", "csistoragecapacities")

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
USE_ZONE = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
ARMOR = "container.apparmor.security.beta.kubernetes.io/a"


def pod(annotations=None, containers=None, **spec):
    containers = containers or [{"name": "a", "image": "x:1"}]
    return {"metadata": {"annotations": annotations or {}}, "spec": {"containers": containers, **spec}}


def with_ports(*ports):
    return [{"name": "a", "image": "x:1", "ports": list(ports)}]


def template(**spec):
    return {"metadata": {"labels": {"a": "b"}}, "spec": pod(**spec)["spec"]}


def workload(**fields):
    selected = {"selector": {"matchLabels": {"a": "b"}}, "template": template(nodeSelector={OLD_ZONE: "z"})}
    return {"spec": {**selected, **fields}}


def pem(label, content=b"x"):
    return f"-----BEGIN {label}-----\n{base64.b64encode(content).decode()}\n-----END {label}-----\n"


def key_text(key):
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()


def certificate_of(key):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a")])
    day = datetime.datetime(2024, 1, 1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def secret(certificate, key):
    return {"type": "kubernetes.io/tls", "stringData": {"tls.crt": certificate, "tls.key": key}}


def warnings(kind, body):
    return kind.create(body)[1]


def test_sysctls_are_no_annotations_any_more():
    names = ("security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls")
    assert warnings(PODS, pod(dict.fromkeys(names, "a=b"))) == [
        f'metadata.annotations[{name}]: non-functional in v1.11+; use the "sysctls" field instead' for name in names
    ]


def test_a_seccomp_annotation_beside_its_field_is_no_matter():
    annotations = {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}
    profile = {"seccompProfile": {"type": "RuntimeDefault"}}
    assert len(warnings(PODS, pod(annotations))) == 1
    assert warnings(PODS, pod(annotations, securityContext=profile)) == []


def test_an_armor_annotation_becomes_a_field_with_a_warning():
    told = [f'metadata.annotations[{ARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead']
    assert warnings(PODS, pod({ARMOR: "runtime/default"})) == told
    whole = {"appArmorProfile": {"type": "RuntimeDefault"}}
    assert warnings(PODS, pod({ARMOR: "runtime/default"}, securityContext=whole)) == []


def test_secrets_are_named_once_and_by_some_name():
    found = warnings(PODS, pod(imagePullSecrets=[{"name": ""}, {"name": "r"}, {"name": "r"}, {"name": ""}]))
    path = "spec.imagePullSecrets"
    assert found == [
        f'{path}[2].name: duplicate name "r"',
        f'{path}[3].name: duplicate name ""',
        f'{path}[0].name: invalid empty name ""',
        f'{path}[3].name: invalid empty name ""',
    ]


def test_a_variable_that_is_only_itself_hides_the_one_before():
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"}, {"name": "A", "value": "$(A)2"}]
    [told] = warnings(PODS, pod(containers=[{"name": "a", "image": "x:1", "env": env}]))
    assert told.startswith('spec.containers[0].env[1]: hides previous definition of "A"')


def test_one_host_port_on_some_address_and_on_all_is_ambiguous():
    here, everywhere = (
        {"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"},
        {"containerPort": 80, "hostPort": 80},
    )
    other = {"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.2"}
    where = "spec.containers[0].ports"
    assert warnings(PODS, pod(containers=with_ports(here, everywhere, other))) == [
        f"{where}[1]: dangerously ambiguous port definition with {where}[0]",
        f"{where}[2]: dangerously ambiguous port definition with {where}[1]",
    ]


def test_ports_on_different_host_ports_are_fine():
    ports = [{"containerPort": 80, "hostPort": 80}, {"containerPort": 80, "hostPort": 81}]
    assert warnings(PODS, pod(containers=with_ports(*ports))) == []


def test_thousands_of_ports_are_not_each_compared_with_all_others():
    ports = [{"containerPort": 80, "protocol": "TCP"}] * 3000
    found = list(warnings(PODS, pod(containers=with_ports(*ports))))  # four million pairs
    where = "spec.containers[0].ports"
    assert found[0] == f"{where}[1]: duplicate port definition with {where}[0]"
    assert len(found) == 200  # more than is ever shown


def test_thousands_of_files_are_not_each_compared_with_all_others():
    paths = [f"d{number // 100}/f{number}" for number in range(20_000)]
    items = [{"key": "k", "path": path} for path in [*paths, "d7", "d1/f100/x", "d1/f100/x", "other"]]
    volume = {"name": "v", "secret": {"secretName": "s", "items": items}}
    found = list(warnings(PODS, pod(volumes=[volume])))
    all_of_folder = ", ".join(f'"d7/f{number}"' for number in range(700, 800))
    assert found == [
        f'volume "v" (Secret "s"): overlapping paths: "d7" with {all_of_folder}',
        'volume "v" (Secret "s"): overlapping paths: "d1/f100/x" with "d1/f100"',
        'volume "v" (Secret "s"): overlapping paths: "d1/f100/x" with "d1/f100", "d1/f100/x"',
    ]


def test_a_port_name_means_the_first_port_of_that_name():
    first = {"name": "s", "image": "x:1", "restartPolicy": "Always", "ports": [{"name": "http", "containerPort": 80}]}
    body = pod(containers=with_ports({"name": "http", "containerPort": 81}), initContainers=[first])
    there = "spec.initContainers[0].ports[0]"
    assert warnings(PODS, body) == [
        f'spec.containers[0].ports[0]: duplicate port name "http" with {there}, '
        f"services and probes that select ports by name will use {there}"
    ]


def test_sources_are_told_before_files_and_aliases():
    files = {"items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x"}], "name": "c"}
    volumes = [{"name": "f", "configMap": files}, {"name": "g", "glusterfs": {"endpoints": "e", "path": "p"}}]
    aliases = [{"ip": "10.0.0.1", "hostnames": ["a"]}] * 2
    found = warnings(PODS, pod(volumes=volumes, hostAliases=aliases))
    assert [one.partition(":")[0] for one in found] == [
        "spec.volumes[1].glusterfs",
        'volume "f" (ConfigMap "c")',
        "spec.hostAliases[1].ip",
    ]


def test_addresses_have_one_good_spelling():
    config = {"nameservers": ["2001:DB8::1"]}
    aliases = [{"ip": "2001:db8:0::2", "hostnames": ["a"]}]
    assert warnings(PODS, pod(dnsConfig=config, dnsPolicy="None", hostAliases=aliases)) == [
        'spec.dnsConfig.nameservers[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format '
        '("2001:db8::1")',
        'spec.hostAliases[0].ip: IPv6 address "2001:db8:0::2" should be in RFC 5952 canonical format ("2001:db8::2")',
    ]


def test_whoever_changes_a_pod_is_not_warned():
    made, _ = PODS.create(pod(nodeSelector={OLD_ZONE: "z"}))
    assert PODS.change(made, {"spec": {"activeDeadlineSeconds": 5}})[1] == []


def test_addresses_in_the_status_of_a_pod():
    made, _ = PODS.create(pod())
    status = {"podIP": "2001:DB8::1", "podIPs": [{"ip": "2001:DB8::1"}]}
    [told] = PODS.change(made, {"status": status}, "status")[1]
    assert told.startswith('status.podIPs[0].ip: IPv6 address "2001:DB8::1"')


def test_a_template_may_ask_for_less_than_no_grace():
    body = workload(template=template(terminationGracePeriodSeconds=-1))
    assert warnings(DEPLOYMENTS, body) == [
        "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; "
        "negative values are invalid and will be treated as 1"
    ]


def test_a_template_is_warned_about_with_every_change_of_the_spec():
    told = [f"spec.template.spec.nodeSelector[{OLD_ZONE}]: {USE_ZONE}"]
    made, found = DEPLOYMENTS.create(workload())
    assert found == told
    assert DEPLOYMENTS.change(made, {"spec": {"replicas": 3}})[1] == told
    assert DEPLOYMENTS.change(made, {"spec": {"replicas": 4}}, "scale")[1] == told
    assert DEPLOYMENTS.change(made, {"metadata": {"labels": {"x": "y"}}})[1] == []


def test_a_daemon_set_is_warned_about_its_template_alone():
    made, found = DAEMONS.create(workload())
    assert len(found) == 1
    assert DAEMONS.change(made, {"spec": {"minReadySeconds": 3}})[1] == []


def test_a_replication_controller_is_warned_about_the_template_it_had():
    made, _ = CONTROLLERS.create({"spec": {"template": template()}})
    changed, found = CONTROLLERS.change(made, {"spec": {"template": {"spec": {"nodeSelector": {OLD_ZONE: "z"}}}}})
    assert found == []
    assert len(CONTROLLERS.change(changed, {"spec": {"template": {"spec": {"nodeSelector": None}}}})[1]) == 1


def test_a_stateful_set_keeps_revisions_and_asks_for_whole_bytes():
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "100m"}}}}
    claim["spec"]["accessModes"] = ["ReadWriteOnce"]
    body = workload(revisionHistoryLimit=-1, volumeClaimTemplates=[claim], template=template())
    fraction = 'resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer'
    keeps = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
    made, found = STATEFUL.create(body)
    assert found == [f"spec.volumeClaimTemplates[0].{fraction}", keeps]
    later = STATEFUL.change(made, {"metadata": {"labels": {"x": "y"}}})[1]
    assert later == [f"spec.volumeClaimTemplates[0].Spec.{fraction}", keeps]


def test_a_job_of_very_many_indexes():
    spec = {"completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001}
    body = {"spec": {**spec, "template": template(restartPolicy="Never")}}
    [told] = warnings(JOBS, body)
    assert told.startswith("spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism ")


def test_an_account_is_warned_once_about_its_annotation():
    name = "kubernetes.io/enforce-mountable-secrets"
    made, found = ACCOUNTS.create({"metadata": {"annotations": {name: "true"}}})
    why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    assert found == [f"metadata.annotations[{name}]: {why}"]
    assert ACCOUNTS.change(made, {"metadata": {"labels": {"x": "y"}}})[1] == []


def test_fields_of_nodes_that_nobody_uses():
    assert warnings(NODES, {"spec": {"externalID": "x"}}) == [
        "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    ]


def test_addresses_of_endpoints_and_services():
    subset = {"addresses": [{"ip": "2001:DB8::1"}], "ports": [{"port": 1}]}
    [told] = warnings(ENDPOINTS, {"subsets": [subset]})
    assert told.startswith('subsets[0].addresses[0].ip: IPv6 address "2001:DB8::1"')
    ranges = {"type": "LoadBalancer", "ports": [{"port": 1}], "loadBalancerSourceRanges": ["2001:DB8::/64"]}
    [told] = warnings(SERVICES, {"spec": ranges})
    assert told.startswith('spec.loadBalancerSourceRanges[0]: IPv6 CIDR value "2001:DB8::/64"')


def test_an_external_name_has_no_use_for_external_addresses():
    spec = {"type": "ExternalName", "externalName": "a.example", "externalIPs": ["8.8.8.8"]}
    assert warnings(SERVICES, {"spec": spec}) == ['spec.externalIPs is ignored when spec.type is "ExternalName"']


@pytest.mark.parametrize(
    ("topology", "where"),
    [
        ({"matchLabels": {OLD_ZONE: "z"}}, f"nodeTopology.matchLabels.{OLD_ZONE}: {USE_ZONE}"),
        (
            {"matchExpressions": [{"key": OLD_ZONE, "operator": "Exists"}]},
            f"nodeTopology.matchExpressions[0].key: {OLD_ZONE} is {USE_ZONE}",
        ),
    ],
)
def test_old_labels_of_nodes_in_storage(topology, where):
    assert warnings(CAPACITIES, {"storageClassName": "c", "nodeTopology": topology}) == [where]


def test_old_labels_of_nodes_in_storage_classes():
    terms = [{"matchLabelExpressions": [{"key": OLD_ZONE, "values": ["z"]}]}]
    assert warnings(CLASSES, {"provisioner": "a.b/c", "allowedTopologies": terms}) == [
        f"allowedTopologies[0].matchLabelExpressions[0].key: {USE_ZONE}"
    ]


@pytest.mark.parametrize(
    ("certificate", "key", "why"),
    [
        ("junk", "junk", "tls: failed to find any PEM data in certificate input"),
        (
            pem("RSA PRIVATE KEY"),
            "junk",
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched",
        ),
        (
            pem("A") + pem("B"),
            "junk",
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the '
            "following types: [A B]",
        ),
        (pem("CERTIFICATE"), "junk", "tls: failed to find any PEM data in key input"),
        (
            pem("CERTIFICATE"),
            pem("CERTIFICATE"),
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
        (pem("CERTIFICATE"), pem("PRIVATE KEY"), "x509: malformed certificate"),
    ],
)
def test_a_tls_secret_holds_a_pair(certificate, key, why):
    assert warnings(SECRETS, secret(certificate, key)) == [why]


def test_the_key_of_a_tls_secret_is_that_of_the_certificate():
    key, other = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    certificate = certificate_of(key)
    assert warnings(SECRETS, secret(certificate, key_text(key))) == []
    told = ["tls: private key does not match public key"]
    made, found = SECRETS.create(secret(certificate, key_text(other)))
    assert found == told
    assert SECRETS.change(made, {"metadata": {"labels": {"x": "y"}}})[1] == told
    another_type = key_text(ed25519.Ed25519PrivateKey.generate())
    assert warnings(SECRETS, secret(certificate, another_type)) == [
        "tls: private key type does not match public key type"
    ]
    assert warnings(SECRETS, secret(certificate, pem("PRIVATE KEY"))) == ["tls: failed to parse private key"]
