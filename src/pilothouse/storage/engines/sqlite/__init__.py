"""The default engine: one SQLite file, one writer thread that commits in groups, readers beside it."""

from pilothouse.storage.engines.sqlite.engine import SqliteEngine
from pilothouse.storage.engines.sqlite.settings import SqliteSettings

__all__ = ["SqliteEngine", "SqliteSettings"]
