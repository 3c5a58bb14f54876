"""The watch cache: a `Storage` that keeps one prefix of an engine in memory."""

from pilothouse.cache.history import HistoryLimits
from pilothouse.cache.storage import CachedStorage

__all__ = ["CachedStorage", "HistoryLimits"]
