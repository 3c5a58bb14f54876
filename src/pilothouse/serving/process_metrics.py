"""What the system says of this process: memory, CPU time, open files. Read at each scrape, in the scrape's thread."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from pilothouse.kit.metrics import Counter, Family, Gauge, Registry

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def add_process_metrics(registry: Registry, began: float) -> None:
    """`began`: seconds since 1970."""

    def gauge(name: str, text: str, read: Callable[[], float]) -> None:
        registry.add(Gauge(name, text, (), lambda: [((), read())]))

    text = "Total user and system CPU time spent in seconds."
    registry.add(Counter("process_cpu_seconds_total", text, (), lambda: [((), _cpu_time())]))
    received, sent = (
        "Number of bytes received by the process over the network.",
        "Number of bytes sent by the process over the network.",
    )
    registry.add(Counter("process_network_receive_bytes_total", received, (), lambda: _octets("InOctets")))
    registry.add(Counter("process_network_transmit_bytes_total", sent, (), lambda: _octets("OutOctets")))
    text = "Maximum amount of virtual memory available in bytes."
    gauge("process_virtual_memory_max_bytes", text, _most_memory)
    gauge("process_max_fds", "Maximum number of open file descriptors.", _most_files)
    gauge("process_open_fds", "Number of open file descriptors.", _open_files)
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", lambda: _pages(1))
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", lambda: _pages(0))
    gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", lambda: began)


def _cpu_time() -> float:
    times = os.times()
    return times.user + times.system


def _most_files() -> float:
    return float(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _most_memory() -> float:
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return float(2**64 - 1) if limit == resource.RLIM_INFINITY else float(limit)


def _octets(column: str) -> list[tuple[tuple[str, ...], float]]:
    """What all processes of this network namespace sent or received: the system counts no finer. None but on Linux."""
    try:
        rows = [line.split() for line in Path("/proc/self/net/netstat").read_text().splitlines()]
    except OSError:
        return []
    for names, values in pairwise(rows):
        if names[0] == values[0] == "IpExt:" and column in names:
            return [((), float(values[names.index(column)]))]
    return []


def _open_files() -> float:
    folder = Path("/proc/self/fd")
    return float(len(os.listdir(folder))) if folder.is_dir() else 0.0


def _pages(column: int) -> float:
    """Bytes: 0 virtual, 1 resident."""
    try:
        return float(int(Path("/proc/self/statm").read_text().split()[column]) * _PAGE)
    except OSError:  # not Linux: the most that was resident is what can be had
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def constant(name: str, text: str, labels: dict[str, str]) -> Family:
    """A metric that is always 1 and says something by its labels."""
    family = Gauge(name, text, tuple(labels))
    family.bind(*labels.values()).set(1.0)
    return family
