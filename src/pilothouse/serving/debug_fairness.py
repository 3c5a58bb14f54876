"""/debug/api_priority_and_fairness/: the tables of a server whose one level lets everything through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.serving.http import Handler, Request, Response

ROOT: Final = "/debug/api_priority_and_fairness"
_LEVELS: Final = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
    "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests",
)  # fmt: skip
_QUEUES: Final = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
    "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
_REQUESTS: Final = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
    "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
Row = tuple[str, ...]


def fairness_handlers(executing: Callable[[], int]) -> dict[str, Handler]:
    """By path. `executing`: requests that run now."""

    def levels() -> list[Row]:
        running = executing()
        return [("exempt", "0", str(running == 0).lower(), "false", "0", str(running), "0", "0", "0", "0")]

    return {
        f"{ROOT}/dump_priority_levels": table_handler(_LEVELS, levels),
        f"{ROOT}/dump_queues": table_handler(_QUEUES, list),
        f"{ROOT}/dump_requests": table_handler(_REQUESTS, list),
    }


def table_handler(columns: Row, rows: Callable[[], list[Row]]) -> Handler:
    """A table as text: columns of equal width, commas between."""

    async def serve(request: Request) -> Response:
        cells = [tuple(f"{cell}," for cell in row[:-1]) + row[-1:] for row in (columns, *rows())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
        headers = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"X-Content-Type-Options", b"nosniff")]
        return Response(200, headers, ("\n".join(lines) + "\n").encode())

    return serve
