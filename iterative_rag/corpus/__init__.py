"""Where documents come from: folders of text files and JSON Lines."""

from iterative_rag.corpus.source import open_source

__all__ = ["open_source"]
