"""Kiwix archives (.zim) as documents: every article, or those of a list of titles.

The archive holds rendered HTML, which the reader of HTML files reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Encyclopedia, FileSource
from iterative_rag.sources.zim_file import ZimFile
from iterative_rag.types import Document


class ZimArchive(FileSource):
    """The text/html entries of an archive in the order of their paths, without redirects, or those of titles with
    redirects followed."""

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the archive cannot be opened or holds no article at all."""
        file = ZimFile(self.path)
        entries = file.entries() if self.titles is None else map(file.entry, self.titles)
        return self.articles(_documents(file, entries), "Give an archive of articles, as Kiwix offers them.")


def _documents(file: ZimFile, entries: Iterable[Any]) -> Iterator[Document | Skipped]:
    """Each page once."""
    done: set[str] = set()
    for entry in entries:
        if isinstance(entry, Skipped):
            yield entry
            continue
        path = str(entry.path)
        if path not in done:
            done.add(path)
            read = file.document(entry)
            key = hashlib.sha1(f"{file.name}:{path}".encode()).hexdigest()
            yield read if isinstance(read, Skipped) else replace(read, id=key)


FORMAT = Encyclopedia(lambda path, titles: ZimArchive(path, titles=titles))
