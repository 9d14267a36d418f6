"""The format of a file, by the suffixes that `iterative_rag/registry.py` lists."""

from __future__ import annotations

from iterative_rag.registry import FORMATS
from iterative_rag.sources.formats.format import Encyclopedia, Format


def format_of(name: str) -> Format | Encyclopedia | None:
    """None for files of no known format."""
    suffix = next((suffix for suffix in FORMATS.names if name.lower().endswith(suffix)), None)
    return FORMATS.load(suffix) if suffix else None


def format_in_folder(name: str) -> Format | None:
    """The format of a file that is read where it lies among others; None for encyclopedias and hidden files."""
    form = None if name.startswith(".") else format_of(name)
    return form if isinstance(form, Format) else None
