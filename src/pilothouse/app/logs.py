"""Log lines: one line a message, whatever is in it."""

from __future__ import annotations

import logging
import sys
import time


class OneLine(logging.Formatter):
    """`2026-11-29T21:10:47.123Z WARNING pilothouse.serving: text`; a traceback stands indented on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        line = f"{seconds}.{int(record.msecs):03d}Z {record.levelname} {record.name}: {message}"
        if record.exc_info:
            line += "\n  " + self.formatException(record.exc_info).replace("\n", "\n  ")
        return line


def log_to_stderr(level: str) -> None:
    """Send all logs of this process to standard error, from `level` (debug, info, ...) on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
