"""What a URL asks for."""

from __future__ import annotations

import pytest

from pilothouse.endpoints.requestinfo import RequestInfo, parse_query, request_info

# method and path, then: verb group version namespace resource subresource name ("-" for nothing)
RESOURCES = """
GET /api/v1/pods                                         list - v1 - pods - -
GET /api/v1/pods/                                        list - v1 - pods - -
GET /api/v1/namespaces/ns/pods                           list - v1 ns pods - -
HEAD /api/v1/namespaces/ns/pods                          list - v1 ns pods - -
POST /api/v1/namespaces/ns/pods                          create - v1 ns pods - -
DELETE /api/v1/namespaces/ns/pods                        deletecollection - v1 ns pods - -
GET /api/v1/namespaces/ns/pods/p                         get - v1 ns pods - p
PUT /api/v1/namespaces/ns/pods/p                         update - v1 ns pods - p
PATCH /api/v1/namespaces/ns/pods/p                       patch - v1 ns pods - p
DELETE /api/v1/namespaces/ns/pods/p                      delete - v1 ns pods - p
PUT /api/v1/namespaces/ns/pods/p/status                  update - v1 ns pods status p
GET /api/v1/namespaces/ns/services/s/proxy/a/b           get - v1 ns services proxy s
GET /apis/apps/v1/namespaces/ns/deployments/d/scale      get apps v1 ns deployments scale d
GET /apis/apps/v1/deployments                            list apps v1 - deployments - -
GET /api/v1/namespaces                                   list - v1 - namespaces - -
POST /api/v1/namespaces                                  create - v1 - namespaces - -
GET /api/v1/namespaces/ns                                get - v1 ns namespaces - ns
DELETE /api/v1/namespaces/ns                             delete - v1 ns namespaces - ns
PUT /api/v1/namespaces/ns/status                         update - v1 ns namespaces status ns
PUT /api/v1/namespaces/ns/finalize                       update - v1 ns namespaces finalize ns
GET /api/v1/nodes/n                                      get - v1 - nodes - n
GET /api/v1/watch/pods                                   watch - v1 - pods - -
GET /api/v1/watch/namespaces/ns/pods                     watch - v1 ns pods - -
GET /api/v1/watch/namespaces/ns/pods/p                   watch - v1 ns pods - p
GET /apis/apps/v1/watch/deployments                      watch apps v1 - deployments - -
GET /api/v1/pods?watch=1                                 watch - v1 - pods - -
GET /api/v1/pods?watch=true                              watch - v1 - pods - -
GET /api/v1/pods?watch=                                  watch - v1 - pods - -
GET /api/v1/pods?watch=false                             list - v1 - pods - -
GET /api/v1/pods?watch=0                                 list - v1 - pods - -
GET /api/v1/pods?watch=fAlse                             list - v1 - pods - -
GET /api/v1/pods?watch=f                                 watch - v1 - pods - -
GET /api/v1/namespaces/ns/pods/p?watch=1                 get - v1 ns pods - p
GET /api/v1/pods?fieldSelector=metadata.name%3Dp         list - v1 - pods - p
GET /api/v1/pods?fieldSelector=metadata.name%3Dp&watch=1 watch - v1 - pods - p
GET /api/v1/pods?fieldSelector=metadata.name%21%3Dp      list - v1 - pods - -
GET /api/v1/pods?fieldSelector=metadata.name%3D..        list - v1 - pods - -
GET /api/v1/pods?fieldSelector=%2C%2Cmetadata.name       list - v1 - pods - -
""".strip().splitlines()


def asked(method: str, where: str) -> RequestInfo:
    path, _, query = where.partition("?")
    return request_info(method, path, parse_query(query))


@pytest.mark.parametrize("row", RESOURCES)
def test_resources(row: str) -> None:
    method, where, *expected = row.split()
    info = asked(method, where)
    found = (info.verb, info.group, info.version, info.namespace, info.resource, info.subresource, info.name)
    assert info.is_resource
    assert [text or "-" for text in found] == expected


OUTSIDE = [
    "/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version",
    "/openapi/v3/apis/apps/v1", "//api/v1/pods", "/API/v1/pods",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_outside_of_resources(path: str) -> None:
    info = asked("POST", path)
    assert not info.is_resource
    assert (info.verb, info.path) == ("post", path)


LASTING = ["/api/v1/pods?watch=1", "/api/v1/watch/pods", "/api/v1/namespaces/n/pods/p/exec",
           "/api/v1/namespaces/n/pods/p/attach", "/api/v1/namespaces/n/pods/p/portforward",
           "/api/v1/namespaces/n/pods/p/log", "/api/v1/namespaces/n/services/s/proxy"]  # fmt: skip


@pytest.mark.parametrize("where", LASTING)
def test_requests_that_are_meant_to_last(where: str) -> None:
    assert asked("GET", where).long_running


@pytest.mark.parametrize("where", ["/api/v1/pods", "/api/v1/namespaces/n/pods/log", "/healthz?watch=1"])
def test_all_others_have_a_deadline(where: str) -> None:
    assert not asked("GET", where).long_running


QUERIES = [
    ("a=1&a=2", ["1", "2"]),
    ("a", [""]),
    ("a=b=c", ["b=c"]),
    ("a=x%20y+z", ["x y z"]),
    ("%61=1", ["1"]),
    ("a=%zz", []),
    ("a=%2", []),
    ("a=1;b=2", []),
    ("&&a=1&", ["1"]),
    ("A=1", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "values"), QUERIES)
def test_pairs_that_cannot_be_read_are_dropped(text: str, values: list[str]) -> None:
    query = parse_query(text)
    assert query.all("a") == values
    assert query.get("a", "none") == (values[0] if values else "none")
    assert ("a" in query) is bool(values)
