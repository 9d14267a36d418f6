"""What is kept on disk between runs: replies, extractions and query vectors."""

from iterative_rag.cache.disk_cache import CacheStats, DiskCache, NoCache

__all__ = ["CacheStats", "DiskCache", "NoCache"]
