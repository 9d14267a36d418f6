"""An open Kiwix archive (.zim): its pages as documents, and what it says of itself."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from iterative_rag.errors import CorpusError, FetchError, MissingExtra
from iterative_rag.protocols import Skipped
from iterative_rag.remote.hosts import host_of
from iterative_rag.sources.decoding import decode_html
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.format import Encyclopedia, FileSource, shown
from iterative_rag.sources.wikipedia.page_markdown import require_converters
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.languages import language_names
from iterative_rag.types import Document
from iterative_rag.types.documents import Metadata

EXTRA = "zim"
MAX_BYTES = 16 * 1024 * 1024  # of one page
MAX_LINKING_BYTES = 2 * 1024 * 1024
_AROUND = 200  # characters before and behind a link
_DATE_CHARS = 40
_LINK = re.compile(r'<a\b[^<>]{0,300}?\bhref="([^"<>#]{1,300})')
_TAG = re.compile(r"<[^<>]*>?")
_MAX_REDIRECTS = 5
_ENTRY_BYTES = 16  # of an entry without a title, with its place in the table of entries
_FETCH_AGAIN = "Fetch it again from https://library.kiwix.org, and compare its checksum."
# What libzim raises for damaged data: clusters, names that are not UTF-8, numbers out of range.
_FAULTS = (RuntimeError, UnicodeError, LookupError, OverflowError)
# The ISO 639-3 codes that do not begin with the letters of the ISO 639-1 code.
_CODES = """
deu:de spa:es por:pt swe:sv pol:pl tur:tr ces:cs jpn:ja est:et ind:id kaz:kk lav:lv slk:sk tgl:tl bos:bs bul:bg gle:ga
lit:lt ltz:lb mal:ml mon:mn mar:mr mlt:mt pus:ps tat:tt kir:ky khm:km kan:kn ben:bn lao:lo"""


class ZimFile:
    """Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Raises MissingExtra, or CorpusError where the file cannot be opened."""
        try:
            from libzim.reader import Archive  # type: ignore[import-untyped]
        except ImportError as error:
            raise MissingExtra(EXTRA) from error
        require_converters(EXTRA)
        self.path = path
        if path.is_dir() or not path.exists():
            raise CorpusError(f"There is no file {shown(path)}.", hint="Check the path.")
        try:
            self.archive = Archive(path)
            self.articles = int(self.archive.article_count)
            self.identity = str(self.archive.uuid)
            self.has_words = bool(self.archive.has_fulltext_index)
            if self.archive.all_entry_count > self.archive.filesize // _ENTRY_BYTES:
                raise RuntimeError("its header tells more entries than it can hold")
        except _FAULTS as error:
            raise self.damaged(str(error)) from error
        self.name = self._metadata("Name") or path.name
        self.date = one_line(self._metadata("Date"))[:_DATE_CHARS]
        self.dated: Metadata = (("date", self.date),) if self.date else ()
        codes = [code.strip().lower() for code in self._metadata("Language").split(",")]
        others = dict(pair.split(":") for pair in _CODES.split())
        short = [others.get(code, code[:2]) for code in codes]
        self.languages = tuple(code for code in dict.fromkeys(short) if code in language_names())
        self.base = _base(self._metadata("Source"), self._metadata("Scraper"))
        self._stamp = self._stamped()

    def damaged(self, told: str) -> CorpusError:
        message = f"{shown(self.path)} is not a readable ZIM archive: {one_line(told).rstrip('.')}."
        return CorpusError(message, hint=_FETCH_AGAIN)

    def _stamped(self) -> tuple[int, int, int]:
        held = self.path.stat()
        return held.st_ino, held.st_size, held.st_mtime_ns

    @property
    def is_renewed(self) -> bool:
        """Whether another file lies in its place; one that is gone is read on."""
        return self.path.exists() and self._stamped() != self._stamp

    def _metadata(self, name: str) -> str:
        """A field of what the archive says of itself; "" where it is missing or damaged."""
        try:
            return bytes(self.archive.get_metadata(name)).decode("utf-8", "replace").strip()
        except _FAULTS:
            return ""

    def is_whole(self) -> bool:
        """Whether the file has the checksum that it was written with. All of it is read."""
        return bool(self.archive.check())

    def entries(self) -> Iterator[Any | Skipped]:
        """The text/html entries in the order of their paths, without redirects."""
        for number in range(self.archive.all_entry_count):
            try:
                entry = self.archive._get_entry_by_id(number)  # libzim has no public way to iterate
                wanted = not entry.is_redirect and _is_html(entry.get_item())
            except _FAULTS as error:
                yield self.unreadable(str(number), error)
                continue
            if wanted:
                yield entry

    def paths(self) -> Iterator[str]:
        """The paths of all pages that can be read, in order."""
        return (str(entry.path) for entry in self.entries() if not isinstance(entry, Skipped))

    def title(self, path: str) -> str | None:
        """The title of a page or a redirect, whose page is not read; None where there is none."""
        try:
            return title_of(self.archive.get_entry_by_path(path))
        except _FAULTS:
            return None

    def url(self, path: str) -> str | None:
        """The address of a page of a wiki on the web, as far as the archive tells it."""
        return self.base + quote(path.removeprefix("A/"), safe="/:,()!;@$*~") if self.base else None

    def entry(self, title: str) -> Any | Skipped:
        """The page of this title or path, redirects followed."""
        spaced = " ".join(title.replace("_", " ").split())
        names = [name for name in dict.fromkeys((title, spaced, spaced[:1].upper() + spaced[1:])) if name]
        paths = [folder + name.replace(" ", "_") for name in names for folder in ("", "A/")]
        try:
            archive = self.archive
            by_title = (archive.get_entry_by_title(name) for name in names if archive.has_entry_by_title(name))
            by_path = (archive.get_entry_by_path(path) for path in paths if archive.has_entry_by_path(path))
            if entry := _page_of(next(by_title, None) or next(by_path, None)):
                return entry
        except _FAULTS as error:
            return self.unreadable(title, error)
        return Skipped(f"{shown(self.path)}:{title}", "The archive has no article of this title.")

    def page(self, path: str, most: int = 0) -> Document | Skipped:
        """The page of a path, of at most so many bytes; its id is the path, and its date that of the file."""
        try:
            entry = _page_of(self.archive.get_entry_by_path(path))
            if entry is None:
                return Skipped(f"{shown(self.path)}:{path}", "It is no page.")
        except _FAULTS as error:
            return self.unreadable(path, error)
        read = self.document(entry, most)
        if isinstance(read, Skipped):
            return read
        return replace(read, id=str(entry.path), metadata=(*read.metadata, *self.dated))

    def document(self, entry: Any, most: int = 0) -> Document | Skipped:
        """The document of an entry, without an id."""
        path = ""
        try:
            path = str(entry.path)
            title = title_of(entry)
            item = entry.get_item()
            if item.size > (limit := most or MAX_BYTES):
                return Skipped(f"{shown(self.path)}:{path}", f"It is larger than the limit of {limit:,} bytes.")
            data = bytes(item.content)
        except _FAULTS as error:
            return self.unreadable(path, error)
        source = f"{shown(self.path)}:{path}"
        try:
            document = html.page(decode_html(data), source, title)
        except FetchError as error:
            return Skipped(source, str(error))
        return replace(document, title=title, url=document.url or self.url(path))

    def links(self, path: str) -> Iterator[tuple[str, str]]:
        """The paths that a page leads to, each with the text around its link; none of a page that cannot be read."""
        page = self._html(path, MAX_LINKING_BYTES)
        for match in _LINK.finditer(page):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(unescape(match[1]))))
            around = page[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            if self.archive.has_entry_by_path(target):
                yield target, _TAG.sub(" ", around)

    def plain(self, path: str, most: int) -> str:
        """The words of a page of at most so many bytes in lower case; "" for one that cannot be read. Far less work
        than `page`."""
        return _TAG.sub(" ", self._html(path, most)).lower()

    def _html(self, path: str, most: int) -> str:
        try:
            entry = _page_of(self.archive.get_entry_by_path(path))
            item = entry and entry.get_item()
            return decode_html(bytes(item.content)) if item and item.size <= most else ""
        except (*_FAULTS, FetchError):
            return ""

    def unreadable(self, path: str, error: Exception) -> Skipped:
        return Skipped(f"{shown(self.path)}:{path}".rstrip(":"), f"The entry cannot be read: {error}.")


def title_of(entry: Any) -> str:
    """The title of an entry; its path where it has none."""
    return " ".join(entry.title.replace("_", " ").split()) or str(entry.path)


def _page_of(entry: Any) -> Any | None:
    """The page that redirects lead to; None where they go on too long, or to something else."""
    for _ in range(_MAX_REDIRECTS):
        if entry is None or not entry.is_redirect:
            return entry if entry is not None and _is_html(entry.get_item()) else None
        entry = entry.get_redirect_entry()
    return None


def _is_html(item: Any) -> bool:
    return bool(item.mimetype.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"))


def _base(source: str, scraper: str) -> str:
    """The URL under which the wiki's pages stand on the web; "" for archives of anything but a wiki."""
    host = host_of(source if "://" in source else f"https://{source}")
    wiki = scraper.lower().startswith("mwoffliner") or host.endswith(".wikipedia.org")
    return f"https://{host}/wiki/" if wiki and "." in host else ""


class ZimArchive(FileSource):
    """The text/html entries of an archive in the order of their paths, without redirects, or those of titles with
    redirects followed."""

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the archive cannot be opened or holds no article at all."""
        file = ZimFile(self.path)
        return self.articles(self._read(file), "Give an archive of articles, as Kiwix offers them.")

    def _read(self, file: ZimFile) -> Iterator[Document | Skipped]:
        """Each page once."""
        done: set[str] = set()
        for entry in file.entries() if self.titles is None else map(file.entry, self.titles):
            if isinstance(entry, Skipped):
                yield entry
            elif (path := str(entry.path)) not in done:
                done.add(path)
                read = file.document(entry)
                key = hashlib.sha1(f"{file.name}:{path}".encode()).hexdigest()
                yield read if isinstance(read, Skipped) else replace(read, id=key)


FORMAT = Encyclopedia(lambda path, titles: ZimArchive(path, titles=titles))
