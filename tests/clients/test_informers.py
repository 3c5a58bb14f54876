"""Informers lose nothing while the server is stopped, killed and started again under a writer."""

from __future__ import annotations

import pytest

from clients.informer import Informer, Object, Writer
from support.fixtures import StartServer
from support.server import Server, eventually

NAMESPACE = "watched"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
BETWEEN = 40  # writes between two restarts


def prepared(start_server: StartServer) -> Server:
    server = start_server()
    with server.api() as api:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        assert api.post("/api/v1/namespaces", body).status == 201
    return server


def listed(server: Server) -> dict[str, Object]:
    with server.api() as api:
        return {one["metadata"]["name"]: one for one in api.get(PATH).json()["items"]}


def written(writer: Writer, number: int) -> None:
    """Waits until so many more writes were answered."""
    enough = len(writer.written) + number
    eventually(lambda: writer.failure or len(writer.written) >= enough)
    assert writer.failure is None, writer.failure


def agrees(informer: Informer, server: Server) -> None:
    """The informer comes to what a fresh list says."""
    final = listed(server)
    eventually(lambda: informer.failure or informer.state == final)
    assert informer.failure is None, informer.failure


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_nothing_is_missed_over_restarts(start_server: StartServer, how: str) -> None:
    server = prepared(start_server)
    with Informer(server, PATH) as informer:
        eventually(lambda: informer.lists)
        with Writer(server, PATH) as writer:
            for _ in range(2):
                written(writer, BETWEEN)
                if how == "stopped":
                    assert server.stop() == 0
                else:
                    server.kill()
                server.start()
            written(writer, BETWEEN)
        agrees(informer, server)
    assert informer.lists == 1, "a restart is no reason to list again"
    revisions = [revision for _, _, revision in informer.seen]
    assert revisions == sorted(set(revisions)), "each event once, in order"
    seen = {(name, revision) for kind, name, revision in informer.seen if kind != "DELETED"}
    missed = [one for one in writer.written if one not in seen]
    assert not missed, f"answered to the writer, and not told to the informer: {missed[:5]}"
    gone = sum(kind == "DELETED" for kind, _, _ in informer.seen)
    assert gone >= len(writer.deleted)


def test_an_informer_that_is_too_late_lists_again(start_server: StartServer) -> None:
    server = prepared(start_server)
    with Writer(server, PATH) as writer:
        written(writer, BETWEEN)
    late = Informer(server, PATH)
    late.revision = "1"  # the store has begun above it, or no longer knows it
    late.state = {"of-long-ago": {}}
    with late:
        agrees(late, server)
    assert late.lists == 1
    assert late.state == listed(server)


def test_many_informers_see_the_same(start_server: StartServer) -> None:
    server = prepared(start_server)
    with Informer(server, PATH) as one, Informer(server, PATH) as two, Informer(server, PATH) as three:
        everyone = (one, two, three)
        eventually(lambda: all(informer.lists for informer in everyone))
        with Writer(server, PATH, seed=1) as writer, Writer(server, PATH, seed=2) as other:
            written(writer, BETWEEN)
            written(other, BETWEEN)
            server.kill()
            server.start()
            written(writer, BETWEEN)
        for informer in everyone:
            agrees(informer, server)
    tails = [[one for one in informer.seen if one[2] > int(everyone[0].seen[0][2])] for informer in everyone]
    assert tails[0] == tails[1][-len(tails[0]) :] == tails[2][-len(tails[0]) :]
