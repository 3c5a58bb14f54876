"""The kubelet's half of SPDY, for one command: it shouts back what it hears and ends when its input ends."""

from __future__ import annotations

import asyncio
import struct
import zlib

from pilothouse.serving.spdy import DICTIONARY


class Shouting:
    """Serve one connection after its upgrade. `status`: what it says on the stream of errors, b"" for nothing."""

    def __init__(self, status: bytes = b"") -> None:
        self.status = status
        self.streams: dict[str, int] = {}
        self.resized = b""
        self._headers = zlib.decompressobj(zdict=DICTIONARY)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(struct.pack("!HHII", 0x8003, 6, 4, 2))  # a ping
        while True:
            first, second = struct.unpack("!II", await reader.readexactly(8))
            body = await reader.readexactly(second & 0xFFFFFF)
            if first & 0x80000000:
                if first & 0xFFFF == 1:
                    self._opened(struct.unpack_from("!I", body)[0], self._headers.decompress(body[10:]))
                continue
            if first == self.streams.get("resize"):
                self.resized += body
            elif first == self.streams["stdin"]:
                writer.write(data(self.streams["stdout"], body.upper()))
                if second >> 24 & 1:
                    writer.write(data(self.streams["error"], self.status, end=True))
                    for kind in ("stdout", "stderr"):
                        if kind in self.streams:
                            writer.write(data(self.streams[kind], b"", end=True))
            await writer.drain()

    def _opened(self, number: int, block: bytes) -> None:
        words = []
        at = 4
        while at < len(block):
            size = struct.unpack_from("!I", block, at)[0]
            words.append(block[at + 4 : at + 4 + size].decode())
            at += 4 + size
        assert words[0] == "streamtype"
        self.streams[words[1]] = number


def data(stream: int, payload: bytes, *, end: bool = False) -> bytes:
    return struct.pack("!II", stream, (1 if end else 0) << 24 | len(payload)) + payload
