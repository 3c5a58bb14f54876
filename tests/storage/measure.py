"""Measures the SQLite store and the cache, by hand: `python tests/storage/measure.py`.

docs/designs/store.md has the numbers.

CPU is that of this whole process (user and system, all threads, the disk's share of the kernel included).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import tempfile
import time

from pilothouse.cache import CachedStorage
from pilothouse.storage.api import ListRequest, Read, Storage, StoredObject
from pilothouse.storage.engines.memory import MemoryEngine
from pilothouse.storage.engines.sqlite import SqliteEngine
from pilothouse.storage.store import EngineStorage

PREFIX = "/registry/pods/"
VALUE = os.urandom(1000).hex().encode()


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def writes(name: str, storage: Storage, writers: int, total: int, create: bool) -> None:
    times: list[float] = []

    async def write(writer: int) -> None:
        for number in range(total // writers):
            value = VALUE + b"%d" % number

            async def transform(current: StoredObject | None, value: bytes = value) -> bytes:
                return value

            started = time.perf_counter()
            if create:
                await storage.create(f"{PREFIX}ns-{writer % 5}/{name}-{writers}-{writer}-{number}", value)
            else:
                await storage.update(f"{PREFIX}ns-{writer % 5}/{writer}-{number % 50}", transform)
            times.append(time.perf_counter() - started)

    used, started = cpu(), time.perf_counter()
    await asyncio.gather(*(write(writer) for writer in range(writers)))
    took, used = time.perf_counter() - started, cpu() - used
    times.sort()
    print(
        f"{name}: {writers:2} writers {'create' if create else 'update'}: {len(times) / took:6.0f}/s,"
        f" CPU {used / len(times) * 1e6:4.0f} us, p50 {times[len(times) // 2] * 1e3:.2f} ms,"
        f" p99 {times[len(times) * 99 // 100] * 1e3:.2f} ms"
    )


async def reads(storage: CachedStorage) -> None:
    for number in range(5000):
        await storage.create(f"{PREFIX}read/{number:05}", VALUE)
    started = time.perf_counter()
    for _ in range(100_000):
        await storage.get(PREFIX + "read/00100")
    print(f"get: {(time.perf_counter() - started) * 10:.2f} us")
    for attempt in ("first", "again"):
        started = time.perf_counter()
        page = await storage.list(ListRequest(PREFIX + "read/"))
        print(f"list of {len(page.items)}, {attempt}: {(time.perf_counter() - started) * 1e3:.2f} ms")
    started = time.perf_counter()
    request = ListRequest(PREFIX + "read/", Read.EXACT, page.revision - 1000, limit=500)
    await storage.list(request)
    print(f"page of 500, 1000 changes ago: {(time.perf_counter() - started) * 1e3:.2f} ms")


async def memory(engine: MemoryEngine | SqliteEngine, name: str) -> None:
    before = resident()
    prefix = "/registry/configmaps/"
    for start in range(0, 10_000, 500):
        await asyncio.gather(
            *(engine.put_if(f"{prefix}ns/{number}", os.urandom(4096), 0) for number in range(start, start + 500))
        )
    written = resident()
    cache = CachedStorage(engine, prefix)
    await cache.list(ListRequest(prefix))
    gc.collect()
    print(
        f"{name}: 10,000 objects of 4 kB: {(written - before) / 1e6:.1f} MB in the engine,"
        f" {(resident() - written) / 1e6:.1f} MB more in the cache"
    )


async def measure(folder: str) -> None:
    engine = await SqliteEngine.open(os.path.join(folder, "memory.db"))
    await memory(engine, "sqlite")
    await engine.close()
    engine = await SqliteEngine.open(os.path.join(folder, "store.db"))
    for name, storage in (("plain", EngineStorage(engine, PREFIX)), ("cached", CachedStorage(engine, PREFIX))):
        await storage.list(ListRequest(PREFIX, limit=1))
        for writers, total in ((1, 1500), (16, 16_000), (32, 32_000)):
            for create in (True, False):
                if create or name == "cached":
                    await writes(name, storage, writers, total, create)
    await engine.close()
    await reads(CachedStorage(MemoryEngine(), PREFIX))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=None, help="where the store's file lies (default: a temporary folder)")
    arguments = parser.parse_args()
    try:
        import uvloop

        runner = uvloop.run
    except ImportError:
        runner = asyncio.run
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        runner(measure(folder))


if __name__ == "__main__":
    main()
