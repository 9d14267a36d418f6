"""Opens what a path leads to as a source of documents."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import DocumentSource
from iterative_rag.registry import FORMATS, in_words
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import Encyclopedia
from iterative_rag.sources.formats.known_formats import format_in_folder, format_of
from iterative_rag.sources.formats.sandbox import Limits


def is_encyclopedia(path: Path | str) -> bool:
    """Whether single articles can be chosen from it by title."""
    path = Path(path)
    return isinstance(format_of(path.name), Encyclopedia) and not path.is_dir()


def encyclopedias_in_words() -> str:
    return in_words([suffix for suffix in FORMATS.names if is_encyclopedia(f"name{suffix}")])


def open_source(
    path: Path | str, *, titles: Collection[str] | None = None, limits: Limits | None = None, may_be_empty: bool = False
) -> DocumentSource:
    """A folder, or one file of a known format. Raises CorpusError for anything else.

    `titles` are the articles to take of an encyclopedia; other sources are taken whole. `limits` are for a folder,
    which must hold a file unless it `may_be_empty`.
    """
    path = Path(path).expanduser()
    form = None if path.is_dir() else format_of(path.name)
    if isinstance(form, Encyclopedia):
        return form.source(path, titles)
    if form and form.source:
        return form.source(path)
    if path.is_dir() or format_in_folder(path.name) or not path.exists():
        return Folder(path, limits=limits, may_be_empty=may_be_empty)
    raise CorpusError(
        f"{path} is neither a folder nor a {in_words(FORMATS.names)} file.",
        hint="Give a folder of such files, or one of them.",
    )
