"""Spans of requests: what they are called, whose trace they belong to, how they end, and what becomes of waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased

from endpoints.served import Collected
from filters.asking import ALICE, MASTER, PODS, answers, ask, behind, fine, get, noting
from pilothouse.filters.tracing import SHORTEST, tracing
from pilothouse.kit.traceparent import TRACEPARENT
from pilothouse.machinery.errors import APIError, internal, not_found
from pilothouse.registry.request import Caller
from pilothouse.serving.hooks import Hooks
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response, Stream

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE}-{SPAN}-01"
UNSAMPLED = f"00-{TRACE}-{SPAN}-00"
MONITOR = Caller("prometheus", "", ("system:monitoring", "system:authenticated"))


class Clock:
    """Nanoseconds that stand still until they are told to go on."""

    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now


class Traced:
    """The filter and what it made. `samples`: all traces that begin here, or none."""

    def __init__(self, samples: bool = True) -> None:
        self._ended = InMemorySpanExporter()
        provider = TracerProvider(ParentBased(ALWAYS_ON if samples else ALWAYS_OFF), shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._ended))
        self.clock = Clock()
        self.filter: Filter = tracing(provider.get_tracer("test"), self.clock, samples=samples)

    def behind(self, handler: Handler = fine, caller: Caller = ALICE) -> Handler:
        return behind(self.filter, caller=caller, handler=handler)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._ended.get_finished_spans())

    @property
    def one(self) -> ReadableSpan:
        (span,) = self.spans
        return span


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (get(PODS), "GET /api/v1/namespaces/{:namespace}/pods"),
        (get(f"{PODS}/a/log"), "GET /api/v1/namespaces/{:namespace}/pods/{:name}/log"),
        (get("/apis/apps/v1/deployments"), "GET /apis/apps/v1/deployments"),
        (get("/api/v1/nodes/n", method="DELETE"), "DELETE /api/v1/nodes/{:name}"),
        (get("/api/v1/namespaces/default"), "GET /api/v1/namespaces/{:name}"),
        (get("/healthz"), "GET"),
    ],
)
def test_a_span_is_named_after_the_kind_of_request(request_: Request, name: str) -> None:
    traced = Traced()
    ask(traced.behind(), request_)
    assert traced.one.name == name


def test_a_span_tells_of_the_request_and_its_answer() -> None:
    traced = Traced()
    ask(traced.behind(answers(200, b"12345")), get(PODS, user_agent="kubectl"))
    told = dict(traced.one.attributes or {})
    assert told == {
        "http.request.method": "GET", "url.scheme": "https", "url.path": PODS, "network.protocol.version": "1.1",
        "server.address": "localhost", "user_agent.original": "kubectl", "http.response.status_code": 200,
        "http.response.body.size": 5,
    }  # fmt: skip
    assert traced.one.kind.name == "SERVER"
    assert traced.one.status.status_code.name == "UNSET"


@pytest.mark.parametrize("error", [not_found("pods", "", "a"), internal("broken")])
def test_an_error_that_is_an_answer_is_told_by_its_code(error: APIError) -> None:
    traced = Traced()
    assert ask(traced.behind(_raising(error)), get(PODS)).status == error.code
    assert dict(traced.one.attributes or {})["http.response.status_code"] == error.code
    assert traced.one.status.status_code.name == ("ERROR" if error.code >= 500 else "UNSET")
    assert not traced.one.events


def test_what_breaks_is_told_with_the_exception() -> None:
    traced = Traced()
    with pytest.raises(ZeroDivisionError):
        ask(traced.behind(_raising(ZeroDivisionError())), get(PODS))
    assert dict(traced.one.attributes or {})["http.response.status_code"] == 500
    assert [event.name for event in traced.one.events] == ["exception"]


def _raising(error: BaseException) -> Handler:
    async def handle(request: Request) -> Answer:
        raise error

    return handle


@pytest.mark.parametrize("caller", [MASTER, MONITOR])
@pytest.mark.parametrize("samples", [True, False])
def test_the_trace_of_a_privileged_caller_goes_on(caller: Caller, samples: bool) -> None:
    traced = Traced(samples)
    handler = traced.behind(caller=caller)
    ask(handler, get(PODS, traceparent=SAMPLED, tracestate="vendor=1"))
    span = traced.one
    assert span.context is not None
    assert span.parent is not None
    assert f"{span.context.trace_id:032x}-{span.parent.span_id:016x}" == f"{TRACE}-{SPAN}"
    assert span.context.trace_state.get("vendor") == "1"
    ask(handler, get(PODS, traceparent=UNSAMPLED))
    assert len(traced.spans) == 1  # he decides what is sampled


def test_the_trace_of_anybody_else_is_only_linked() -> None:
    traced = Traced()
    ask(traced.behind(), get(PODS, traceparent=UNSAMPLED))
    assert traced.one.parent is None
    assert [f"{link.context.trace_id:032x}" for link in traced.one.links] == [TRACE]
    none = Traced(samples=False)
    ask(none.behind(), get(PODS, traceparent=SAMPLED))
    assert none.spans == []


@pytest.mark.parametrize("sent", ["", "nonsense", f"00-{'0' * 32}-{SPAN}-01"])
def test_a_header_that_names_no_trace_is_as_none(sent: str) -> None:
    traced = Traced()
    assert ask(traced.behind(caller=MASTER), get(PODS, traceparent=sent)).status == 200
    assert traced.one.parent is None
    assert not traced.one.links


def test_who_the_request_is_passed_on_to_is_in_our_span() -> None:
    traced = Traced()
    found: list[Request] = []
    ask(traced.behind(noting(found), MASTER), get(PODS, traceparent=SAMPLED, tracestate="vendor=1"))
    context = traced.one.context
    assert context is not None
    assert found[0].header(b"traceparent") == f"00-{TRACE}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert found[0].header(b"tracestate") == "vendor=1"
    assert [name for name, _ in found[0].headers].count(b"traceparent") == 1


def test_nobody_can_make_extension_servers_sample() -> None:
    found: list[Request] = []
    ask(Traced(samples=False).behind(noting(found)), get(PODS, traceparent=SAMPLED, tracestate="vendor=1"))
    assert found[0].header(b"traceparent") is None
    assert found[0].header(b"tracestate") is None


def test_calls_deep_inside_know_the_trace_and_others_do_not() -> None:
    traced = Traced()
    inside: list[bytes] = []
    meanwhile: list[bytes] = []

    async def handle(request: Request) -> Answer:
        inside.append(TRACEPARENT.get())
        await asyncio.sleep(0)
        inside.append(await asyncio.create_task(_parent()))
        return Response(200, [], b"")

    async def story() -> None:
        asking = traced.behind(handle)(get(PODS)).__await__()
        while True:  # by hand, as the edge steps a request
            try:
                waits_for = asking.send(None)
            except StopIteration:
                return
            meanwhile.append(TRACEPARENT.get())
            if waits_for is not None:
                waits_for._asyncio_future_blocking = False
                await asyncio.wait([waits_for])

    asyncio.run(story())
    context = traced.one.context
    assert context is not None
    assert set(inside) == {f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}".encode()}
    assert set(meanwhile) == {b""}


async def _parent() -> bytes:
    return TRACEPARENT.get()


def waiting(hooks: Hooks) -> Handler:
    async def handle(request: Request) -> Answer:
        await hooks.done("late")
        return Response(200, [], b"")

    return handle


def while_it_waits(traced: Traced, do: Callable[[asyncio.Task[Answer], Hooks], None]) -> None:
    """`do` is called while a request waits for a hook."""

    async def story() -> None:
        hooks = Hooks(["late"])

        async def hook() -> None: ...

        hooks.add("late", hook)
        asking = asyncio.ensure_future(traced.behind(waiting(hooks))(get(PODS)))
        await asyncio.sleep(0)
        do(asking, hooks)
        await hooks.start()
        await asyncio.wait([asking])
        await hooks.stop()

    asyncio.run(story())


@pytest.mark.parametrize(("took", "told"), [(SHORTEST, True), (SHORTEST - 1, False)])
def test_a_wait_that_is_not_very_short_is_a_span_of_its_own(took: int, told: bool) -> None:
    traced = Traced()
    began = traced.clock.now

    def later(asking: asyncio.Task[Answer], hooks: Hooks) -> None:
        traced.clock.now += took

    while_it_waits(traced, later)
    *waits, whole = traced.spans
    assert whole.end_time == began + took
    if not told:
        assert waits == []
        return
    (wait,) = waits
    assert wait.name == "serving/hooks.py done"
    assert dict(wait.attributes or {}) == {"pilothouse.whereabouts": "serving/hooks.py done"}
    assert wait.parent == whole.context
    assert (wait.start_time, wait.end_time) == (began, began + took)


def test_a_client_that_goes_ends_the_span() -> None:
    traced = Traced()
    while_it_waits(traced, lambda asking, hooks: asking.cancel() and None)
    assert traced.one.status.description == "the client is gone, or the time was over"


def test_what_goes_on_is_a_span_until_it_is_over() -> None:
    traced = Traced()

    async def write(writer: object) -> None:
        assert traced.spans == []
        traced.clock.now += 5

    async def handle(request: Request) -> Answer:
        return Stream(200, [], write)

    async def story() -> None:
        answer = await traced.behind(handle)(get(PODS, "watch=1"))
        assert isinstance(answer, Stream)
        assert traced.spans == []
        await answer.run(Collected())

    began = traced.clock.now
    asyncio.run(story())
    assert (traced.one.start_time, traced.one.end_time) == (began, began + 5)
