"""Where documents come from: folders of files in many formats, JSON Lines, encyclopedias in one file."""

from iterative_rag.corpus.formats.apart import Limits
from iterative_rag.corpus.source import is_encyclopedia, open_source

__all__ = ["Limits", "is_encyclopedia", "open_source"]
