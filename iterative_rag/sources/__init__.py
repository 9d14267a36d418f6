"""Where documents come from: folders of files in many formats, JSON Lines, encyclopedias in one file."""

from iterative_rag.sources.folder import encyclopedias_in_words, is_encyclopedia, open_source
from iterative_rag.sources.formats.sandbox import Limits

__all__ = ["Limits", "encyclopedias_in_words", "is_encyclopedia", "open_source"]
