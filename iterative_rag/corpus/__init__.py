"""Where documents come from: folders of files in many formats, and JSON Lines."""

from iterative_rag.corpus.source import open_source

__all__ = ["open_source"]
