"""Kiwix archives (.zim) as documents: every article, or those of a list of titles.

The archive holds rendered HTML, which the reader of HTML files reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from iterative_rag.errors import CorpusError, FetchError, MissingExtra
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode_html
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.format import Encyclopedia, FileSource
from iterative_rag.sources.wikipedia.page_markdown import require_converters
from iterative_rag.types import Document

EXTRA = "zim"
MAX_BYTES = 16 * 1024 * 1024  # of one page
_MAX_REDIRECTS = 5
# What libzim raises for damaged data: clusters, names that are not UTF-8, numbers out of range.
_FAULTS = (RuntimeError, UnicodeError, LookupError)


class ZimArchive(FileSource):
    """The text/html entries of an archive in the order of their paths, without redirects, or those of titles with
    redirects followed."""

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the archive cannot be opened or holds no article at all."""
        pages = _Pages(self._open(), self.path)
        documents = pages.all() if self.titles is None else pages.of(self.titles)
        return self.articles(documents, "Give an archive of articles, as Kiwix offers them.")

    def _open(self) -> Any:
        try:
            from libzim.reader import Archive  # type: ignore[import-untyped]

            require_converters()
        except (ImportError, MissingExtra) as error:
            raise MissingExtra(EXTRA) from error
        self.check()
        try:
            return Archive(self.path)
        except _FAULTS as error:
            raise CorpusError(f"{self.path} is not a readable ZIM archive: {error}.", hint="Fetch it again.") from error


class _Pages:
    def __init__(self, archive: Any, path: Path) -> None:
        self.archive = archive
        self.path = path
        self.name = _metadata(archive, "Name") or path.name
        self.base = _base(archive)

    def all(self) -> Iterator[Document | Skipped]:
        for number in range(self.archive.all_entry_count):
            try:
                entry = self.archive._get_entry_by_id(number)  # libzim has no public way to iterate
                wanted = not entry.is_redirect and _is_html(entry.get_item())
            except _FAULTS as error:
                yield self._unreadable(number, error)
                continue
            if wanted:
                yield self._document(entry)

    def of(self, titles: Collection[str]) -> Iterator[Document | Skipped]:
        done: set[str] = set()
        for title in titles:
            try:
                entry = self._find(title)
                path = str(entry.path) if entry is not None and _is_html(entry.get_item()) else None
            except _FAULTS as error:
                yield self._unreadable(title, error)
                continue
            if path is None:
                yield Skipped(f"{self.path}:{title}", "The archive has no article of this title.")
            elif path not in done:
                done.add(path)
                yield self._document(entry)

    def _find(self, title: str) -> Any | None:
        """The entry of this title or path, redirects followed."""
        spaced = " ".join(title.replace("_", " ").split())
        names = [name for name in dict.fromkeys((title, spaced, spaced[:1].upper() + spaced[1:])) if name]
        for name in names:
            if self.archive.has_entry_by_title(name):
                return _target(self.archive.get_entry_by_title(name))
        for path in [folder + name.replace(" ", "_") for name in names for folder in ("", "A/")]:
            if self.archive.has_entry_by_path(path):
                return _target(self.archive.get_entry_by_path(path))
        return None

    def _document(self, entry: Any) -> Document | Skipped:
        path = ""
        try:
            path = str(entry.path)
            title = " ".join(entry.title.replace("_", " ").split()) or path
            item = entry.get_item()
            if item.size > MAX_BYTES:
                return Skipped(f"{self.path}:{path}", f"It is larger than the limit of {MAX_BYTES:,} bytes.")
            data = bytes(item.content)
        except _FAULTS as error:
            return self._unreadable(path, error)
        source = f"{self.path}:{path}"
        try:
            document = html.page(decode_html(data), source, title)
        except FetchError as error:
            return Skipped(source, str(error))
        url = document.url or (self.base and self.base + quote(path.removeprefix("A/"), safe="/:,()!;@$*~"))
        key = hashlib.sha1(f"{self.name}:{path}".encode()).hexdigest()
        return replace(document, id=key, title=title, url=url or None)

    def _unreadable(self, entry: int | str, error: Exception) -> Skipped:
        return Skipped(f"{self.path}:{entry}" if entry != "" else str(self.path), f"The entry cannot be read: {error}.")


def _target(entry: Any) -> Any | None:
    for _ in range(_MAX_REDIRECTS):
        if not entry.is_redirect:
            return entry
        entry = entry.get_redirect_entry()
    return None


def _is_html(item: Any) -> bool:
    return bool(item.mimetype.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"))


def _metadata(archive: Any, name: str) -> str:
    """A field of the archive's metadata; "" where it is missing or damaged."""
    try:
        return bytes(archive.get_metadata(name)).decode("utf-8", "replace").strip()
    except _FAULTS:
        return ""


def _base(archive: Any) -> str:
    """The URL under which the wiki's pages stand on the web; "" for archives of anything but a wiki."""
    source = _metadata(archive, "Source")
    host = urlsplit(source if "://" in source else f"https://{source}").hostname or ""
    wiki = _metadata(archive, "Scraper").lower().startswith("mwoffliner") or host.endswith(".wikipedia.org")
    return f"https://{host}/wiki/" if wiki and "." in host else ""


FORMAT = Encyclopedia(lambda path, titles: ZimArchive(path, titles=titles))
