"""Choose the reader of a path."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.sources import zim
from iterative_rag.sources.dumps import dump
from iterative_rag.sources.dumps.dump import MediaWikiDump
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.registry import format_of, formats_in_words
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.sources.jsonl import JsonLines
from iterative_rag.sources.zim import ZimArchive


def is_encyclopedia(path: Path | str) -> bool:
    """Whether articles can be chosen from it by their titles: a ZIM archive or a MediaWiki dump."""
    path = Path(path)
    return path.name.endswith((*zim.SUFFIXES, *dump.SUFFIXES)) and not path.is_dir()


def open_source(
    path: Path | str, *, titles: Collection[str] | None = None, limits: Limits | None = None
) -> Folder | JsonLines | MediaWikiDump | ZimArchive:
    """A folder, one file of a known format, or an encyclopedia in one file. Raises CorpusError for anything else.

    `titles` chooses articles of an encyclopedia; other sources are always whole. `limits` are those of a folder.
    """
    path = Path(path).expanduser()
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return JsonLines(path)
    if is_encyclopedia(path):
        encyclopedia = ZimArchive if path.name.endswith(zim.SUFFIXES) else MediaWikiDump
        return encyclopedia(path, titles=titles)
    if path.is_dir() or format_of(path.name) or not path.exists():
        return Folder(path, limits=limits)
    raise CorpusError(
        f"{path} is neither a folder nor a {formats_in_words()} file.",
        hint="Give a folder of such files, or one of them.",
    )
