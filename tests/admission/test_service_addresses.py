"""Services take cluster addresses and node ports, keep them, and give them back."""

from __future__ import annotations

import asyncio
from typing import Any

from pilothouse.machinery.errors import APIError
from pilothouse.registry.resource import Object
from pilothouse.storage.engines.memory import MemoryEngine

from .world import NAMESPACE, World, play, refusal


def service(name: str = "s", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def node_port(name: str = "s", number: int = 0, **spec: Any) -> Object:
    port = {"port": 80, "nodePort": number} if number else {"port": 80}
    return service(name, type="NodePort", ports=[port], **spec)


async def missing(world: World, address: str) -> bool:
    try:
        await world.get("ipaddresses", address)
    except APIError as error:
        assert error.code == 404
        return True
    return False


def test_a_service_gets_an_address_of_the_upper_range() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", service())
        address = made["spec"]["clusterIP"]
        assert made["spec"]["clusterIPs"] == [address]
        assert 16 < int(address.rpartition(".")[2]) < 255
        held = await world.get("ipaddresses", address)
        assert held["spec"]["parentRef"] == {"resource": "services", "namespace": NAMESPACE, "name": "s"}
        assert held["metadata"]["labels"] == {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        }
        await world.delete("services", "s")
        assert await missing(world, address)

    play(story)


def test_an_address_that_was_asked_for_is_had_once() -> None:
    async def story(world: World) -> None:
        await world.create("services", service("a", clusterIP="10.0.0.7"))
        refused = await refusal(world.create("services", service("b", clusterIP="10.0.0.7")))
        assert refused.code == 422
        assert refused.message == (
            'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.7"]: failed to allocate IP 10.0.0.7: '
            "provided IP is already allocated"
        )
        refused = await refusal(world.create("services", service("b", clusterIP="10.9.0.7")))
        assert refused.message.endswith("the provided network does not match the current range")
        refused = await refusal(world.create("services", service("b", clusterIP="10.0.0.255")))
        assert refused.message.endswith("is not in the valid range. The range of valid IPs is 10.0.0.0/24")
        await world.delete("services", "a")
        await world.create("services", service("b", clusterIP="10.0.0.7"))

    play(story)


def test_what_is_refused_leaves_nothing_taken() -> None:
    async def story(world: World) -> None:
        taken = await world.create("services", node_port("taken", 30010))
        refused = await refusal(world.create("services", node_port("s", 30010, clusterIP="10.0.0.7")))
        assert refused.message.endswith(
            "spec.ports[0].nodePort: Invalid value: 30010: provided port is already allocated"
        )
        assert await missing(world, "10.0.0.7")
        bad = node_port("s", 30011, clusterIP="10.0.0.7", sessionAffinity="Cookie")
        assert (await refusal(world.create("services", bad))).code == 422
        assert await missing(world, "10.0.0.7")
        twin = node_port("taken", 30011, clusterIP="10.0.0.7")
        assert (await refusal(world.create("services", twin))).reason == "AlreadyExists"
        assert await missing(world, "10.0.0.7")
        assert not await missing(world, taken["spec"]["clusterIP"])
        await world.create("services", node_port("s", 30011, clusterIP="10.0.0.7"))

    play(story)


def test_a_dry_run_takes_nothing() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", node_port("s", 30010), dry_run=True)
        assert await missing(world, made["spec"]["clusterIP"])
        await world.create("services", node_port("s", 30010))
        await world.delete("services", "s", dry_run=True)
        assert (await refusal(world.create("services", node_port("t", 30010), dry_run=True))).code == 422

    play(story)


def test_types_change_and_give_back() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", node_port("s", 30010))
        address = made["spec"]["clusterIP"]

        def to(**spec: Any) -> Any:
            return lambda obj: obj["spec"].update(spec)

        made = await world.update("services", "s", to(type="ClusterIP"))
        assert "nodePort" not in made["spec"]["ports"][0]
        await world.create("services", node_port("t", 30010))
        made = await world.update("services", "s", to(type="ExternalName", externalName="a.example"))
        assert "clusterIP" not in made["spec"]
        assert await missing(world, address)
        made = await world.update("services", "s", to(type="NodePort"))
        assert made["spec"]["clusterIP"] != ""
        assert 30085 < made["spec"]["ports"][0]["nodePort"] <= 32767

    play(story)


def test_an_update_that_leaves_addresses_out_keeps_them() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", node_port("s", 30010))

        def plain(obj: Object) -> None:
            obj["spec"] = {"type": "NodePort", "ports": [{"port": 80}], "selector": {"a": "b"}}

        kept = await world.update("services", "s", plain)
        assert kept["spec"]["clusterIP"] == made["spec"]["clusterIP"]
        assert kept["spec"]["ports"][0]["nodePort"] == 30010

    play(story)


def test_protocols_of_a_port_share_a_node_port() -> None:
    async def story(world: World) -> None:
        ports = [{"name": "t", "port": 53}, {"name": "u", "port": 53, "protocol": "UDP"}, {"name": "x", "port": 54}]
        made = await world.create("services", service("s", type="LoadBalancer", ports=ports))
        first, second, third = (one["nodePort"] for one in made["spec"]["ports"])
        assert first == second != third
        twice = [{"name": name, "port": port, "nodePort": 30002} for name, port in (("a", 80), ("b", 81))]
        refused = await refusal(world.create("services", service("d", type="NodePort", ports=twice)))
        assert "spec.ports[1].nodePort: Invalid value: 30002" in refused.message

    play(story)


def test_a_local_load_balancer_has_a_health_check_port() -> None:
    async def story(world: World) -> None:
        local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
        made = await world.create("services", service("s", **local))
        assert made["spec"]["healthCheckNodePort"] >= 30000
        refused = await refusal(world.create("services", service("t", healthCheckNodePort=5, **local)))
        assert refused.code == 500
        assert refused.message == (
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 5: provided port is not in the "
            "valid range. The range of valid ports is 30000-32767"
        )
        kept = made["spec"]["healthCheckNodePort"]
        await world.delete("services", "s")
        await world.create("services", service("t", healthCheckNodePort=kept, **local))

    play(story)


def test_without_node_ports_a_load_balancer_takes_those_it_names() -> None:
    async def story(world: World) -> None:
        ports = [{"name": "a", "port": 80, "nodePort": 30010}, {"name": "b", "port": 81}]
        waived = service("s", type="LoadBalancer", allocateLoadBalancerNodePorts=False, ports=ports)
        made = await world.create("services", waived)
        assert [one.get("nodePort") for one in made["spec"]["ports"]] == [30010, None]
        assert (await refusal(world.create("services", node_port("t", 30010)))).code == 422

    play(story)


def test_a_service_on_its_way_out_keeps_its_address_to_the_end() -> None:
    async def story(world: World) -> None:
        held = service("s", clusterIP="10.0.0.7")
        held["metadata"]["finalizers"] = ["example.com/cleanup"]
        await world.create("services", held)
        await world.delete("services", "s")
        assert not await missing(world, "10.0.0.7")
        await world.update("services", "s", lambda obj: obj["metadata"].update(finalizers=[]))
        assert await missing(world, "10.0.0.7")

    play(story)


def test_a_full_range_is_told() -> None:
    async def story(world: World) -> None:
        made = [await world.create("services", service(f"s{number}")) for number in range(6)]
        assert len({one["spec"]["clusterIP"] for one in made}) == 6
        refused = await refusal(world.create("services", service("more")))
        assert refused.message == "Internal error occurred: failed to allocate a serviceIP: range is full"

    play(story, ranges=("10.7.0.0/29",))


def test_all_node_ports_can_be_used_and_no_more() -> None:
    async def story(world: World) -> None:
        for number in range(3):
            await world.create("services", node_port(f"s{number}"))
        refused = await refusal(world.create("services", node_port("more")))
        assert refused.message == "Internal error occurred: failed to allocate a nodePort: range is full"

    play(story, ports="30000-30002")


def test_names_that_are_made_are_tried_again_with_nothing_left_over() -> None:
    async def story(world: World) -> None:
        names = iter(["s-1", "s-1", "s-2"])
        services = world.store("services").services
        object.__setattr__(services, "generate_name", lambda base: next(names))
        generated = node_port()
        generated["metadata"] = {"generateName": "s-"}
        first = await world.create("services", generated)
        second = await world.create("services", generated)
        assert (first["metadata"]["name"], second["metadata"]["name"]) == ("s-1", "s-2")
        held = await world.get("ipaddresses", second["spec"]["clusterIP"])
        assert held["spec"]["parentRef"]["name"] == "s-2"

    play(story)


def test_two_servers_never_give_the_same_thing_twice() -> None:
    async def main() -> None:
        engine = MemoryEngine()
        engine.start()
        servers = [World(engine, seed=seed, ranges=("10.7.0.0/27",), ports="30000-30019") for seed in (1, 2, 3)]
        await servers[0].bootstrap()
        tries = [servers[number % 3].create("services", node_port(f"s{number}")) for number in range(24)]
        answers = await asyncio.gather(*tries, return_exceptions=True)
        made = [one for one in answers if isinstance(one, dict)]
        refused = [one for one in answers if not isinstance(one, dict)]
        assert len(made) == 20
        assert all(isinstance(one, APIError) and "range is full" in one.message for one in refused)
        assert len({one["spec"]["clusterIP"] for one in made}) == 20
        assert len({one["spec"]["ports"][0]["nodePort"] for one in made}) == 20
        await engine.close()

    asyncio.run(main())


def test_a_store_without_a_map_of_ports_is_read_from_its_services() -> None:
    async def story(world: World) -> None:
        await world.create("services", node_port("s", 30010))
        await world.storage("/registry/ranges/").delete("/registry/ranges/servicenodeports")
        assert (await refusal(world.create("services", node_port("t", 30010)))).code == 422

    play(story)


def test_families_and_ranges_of_service_cidrs() -> None:
    async def story(world: World) -> None:
        cidr = await world.get("servicecidrs", "kubernetes")
        (condition,) = cidr["status"]["conditions"]
        assert (condition["type"], condition["status"], condition["reason"]) == ("Ready", "True", "")
        await world.create("servicecidrs", {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.8.0.0/28"]}})
        refused = await refusal(world.create("services", service("s", clusterIP="10.8.0.3")))
        assert refused.message.endswith("the provided network does not match the current range")
        ready = {"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": None}

        def say(obj: Object) -> None:
            obj["status"] = {"conditions": [{**ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}

        await world.update("servicecidrs", "more", say, subresource="status")
        await world.create("services", service("s", clusterIP="10.8.0.3"))

    play(story)


DUAL = ("fd00::/112", "10.0.0.0/24")


def test_a_cluster_of_two_families() -> None:
    async def story(world: World) -> None:
        one = await world.create("services", service("one"))
        assert (one["spec"]["ipFamilies"], one["spec"]["ipFamilyPolicy"]) == (["IPv6"], "SingleStack")
        both = await world.create("services", service("both", ipFamilyPolicy="PreferDualStack"))
        assert both["spec"]["ipFamilies"] == ["IPv6", "IPv4"]
        first, second = both["spec"]["clusterIPs"]
        assert first.startswith("fd00::") and second.startswith("10.0.0.")
        assert both["spec"]["clusterIP"] == first
        other = await world.create("services", service("other", ipFamilies=["IPv4"], ipFamilyPolicy="RequireDualStack"))
        assert other["spec"]["clusterIP"].startswith("10.0.0.")

    play(story, ranges=DUAL)


def test_a_second_family_comes_and_goes() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", service())
        first = made["spec"]["clusterIP"]

        def policy(word: str) -> Any:
            return lambda obj: obj["spec"].update(ipFamilyPolicy=word)

        grown = await world.update("services", "s", policy("RequireDualStack"))
        assert grown["spec"]["clusterIP"] == first
        second = grown["spec"]["clusterIPs"][1]
        assert not await missing(world, second)
        shrunk = await world.update("services", "s", policy("SingleStack"))
        assert (shrunk["spec"]["clusterIPs"], shrunk["spec"]["ipFamilies"]) == ([first], ["IPv6"])
        assert await missing(world, second)
        assert not await missing(world, first)

    play(story, ranges=DUAL)


def test_a_family_the_cluster_lacks_is_refused() -> None:
    async def story(world: World) -> None:
        refused = await refusal(world.create("services", service(ipFamilyPolicy="RequireDualStack")))
        assert refused.message.endswith("this cluster is not configured for dual-stack services")
        refused = await refusal(world.create("services", service(ipFamilies=["IPv6"])))
        assert refused.message.endswith('spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster')

    play(story)


def test_what_a_crash_left_behind_is_given_back() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", node_port("s", 30010))
        left = await world.create("services", node_port("left", 30011))
        address = left["spec"]["clusterIP"]
        await world.store("services").storage.delete(f"/registry/services/specs/{NAMESPACE}/left")
        await world.allocation.repair.once()
        assert not await missing(world, address)  # its service may be on its way
        world.later(120)
        for _ in range(3):
            await world.allocation.repair.once()
        assert await missing(world, address)
        assert not await missing(world, made["spec"]["clusterIP"])
        await world.create("services", node_port("new", 30011))
        assert (await refusal(world.create("services", node_port("more", 30010)))).code == 422

    play(story)


def test_what_is_used_without_being_taken_is_taken() -> None:
    async def story(world: World) -> None:
        made = await world.create("services", node_port("s", 30010))
        address = made["spec"]["clusterIP"]
        await world.store("ipaddresses").storage.delete(f"/registry/ipaddresses/{address}")
        await world.allocation.ports.give_back([30010])
        await world.allocation.repair.once()
        assert not await missing(world, address)
        assert (await refusal(world.create("services", node_port("t", 30010)))).code == 422

    play(story)
