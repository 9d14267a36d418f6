"""Replies, extractions and query vectors, kept on disk between runs."""

from iterative_rag.storage.cache.disk_cache import CacheStats, DiskCache, NoCache

__all__ = ["CacheStats", "DiskCache", "NoCache"]
