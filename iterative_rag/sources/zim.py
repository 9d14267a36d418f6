"""Kiwix archives (.zim) as documents: every article, or those of a list of titles.

The archive holds finished HTML, so the converter of live pages reads it; what the reader programs add to a page
(a title, collapsible sections, a footer about the licence) is taken out first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from iterative_rag.errors import CorpusError, FetchError, MissingExtra
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.dumps.inline import not_too_deep, without_private
from iterative_rag.sources.html_tree import parsed
from iterative_rag.sources.wikipedia.page_markdown import require_converters, to_markdown
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

EXTRA = "zim"
SUFFIXES = (".zim",)
MAX_BYTES = 16 * 1024 * 1024  # of one page
MOST_SKIPPED = 1000
_MOST_REDIRECTS = 5
# What libzim raises for damaged data: clusters, names that are no UTF-8, numbers that lead nowhere.
_FAULTS = (RuntimeError, UnicodeError, LookupError)
_NOT_TEXT = "head, header, footer, nav, form, button, .zim-footer, #mw-navigation, #footer, .openzim-footer"
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
# ISO 639-3, in which archives name their language, to what wikis call it.
_LANGUAGES = {
    "ara": "ar", "ces": "cs", "cat": "ca", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "spa": "es", "fin": "fi",
    "fra": "fr", "heb": "he", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "nld": "nl",
    "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "swe": "sv", "tur": "tr", "ukr": "uk", "vie": "vi",
    "zho": "zh", "fas": "fa",
}  # fmt: skip


class ZimArchive:
    """Text/html entries in the order of their paths; redirects are left out, but a listed one brings its goal.

    Cluster caches bound the memory, not the archive's size.
    """

    def __init__(self, path: Path | str, *, titles: Collection[str] | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.path = Path(path).expanduser().absolute()
        self.titles = None if titles is None else tuple(dict.fromkeys(titles))
        self.max_bytes = max_bytes

    @property
    def root(self) -> str:
        """What the documents belong to: those of it that are not yielded any more have vanished."""
        return str(self.path)

    @property
    def total(self) -> int | None:
        """How many articles the archive says it has, or how many titles are asked for."""
        if self.titles is not None:
            return len(self.titles)
        archive = self._opened()
        try:
            return int(archive.article_count) or None
        except _FAULTS:
            return None  # a damaged list of titles; the articles themselves may be whole

    @property
    def language(self) -> str:
        """The language as wikis call it ("en"); of several the first, "" where the archive does not say."""
        code = _said(self._opened(), "Language").partition(",")[0].strip().lower()
        return _LANGUAGES.get(code, code)

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the archive cannot be opened or holds no article at all."""
        archive = self._opened()
        reading = _Pages(archive, self.path, self.max_bytes)
        found = False
        skipped = 0
        for one in reading.all() if self.titles is None else reading.of(self.titles):
            found = found or isinstance(one, Document)
            skipped += isinstance(one, Skipped)
            if isinstance(one, Document) or skipped <= MOST_SKIPPED:
                yield one
        if skipped > MOST_SKIPPED:
            yield Skipped(
                str(self.path), f"{counted(skipped - MOST_SKIPPED, 'more entry was', 'more entries were')} left out."
            )
        if not found and not skipped:
            raise CorpusError(
                f"{self.path} holds no article.", hint="Give an archive of articles, as Kiwix offers them."
            )

    def _opened(self) -> Any:
        try:
            from libzim.reader import Archive  # type: ignore[import-untyped]

            require_converters()
        except (ImportError, MissingExtra) as error:
            raise MissingExtra(EXTRA) from error
        if not self.path.is_file():
            raise CorpusError(f"There is no file {self.path}.", hint="Check the path.")
        try:
            return Archive(self.path)
        except _FAULTS as error:
            raise CorpusError(
                f"{self.path} is no archive that can be read: {error}.", hint="Fetch it again."
            ) from error


class _Pages:
    """The articles of one archive that is open."""

    def __init__(self, archive: Any, path: Path, max_bytes: int) -> None:
        self.archive = archive
        self.path = path
        self.max_bytes = max_bytes
        self.name = _said(archive, "Name") or path.name
        self.base = _base(archive)

    def all(self) -> Iterator[Document | Skipped]:
        for number in range(self.archive.all_entry_count):
            try:
                entry = self.archive._get_entry_by_id(number)  # the only way to go through all of them
                wanted = not entry.is_redirect and _is_html(entry.get_item())
            except _FAULTS as error:
                yield Skipped(f"{self.path}:{number}", f"The entry cannot be read: {error}.")
                continue
            if wanted:
                yield self._document(entry)

    def of(self, titles: Collection[str]) -> Iterator[Document | Skipped]:
        done: set[str] = set()
        for title in titles:
            try:
                entry = self._found(title)
                path = str(entry.path) if entry is not None and _is_html(entry.get_item()) else None
            except _FAULTS as error:
                yield Skipped(f"{self.path}:{title}", f"The entry cannot be read: {error}.")
                continue
            if path is None:
                yield Skipped(f"{self.path}:{title}", "The archive has no article of this title.")
            elif path not in done:
                done.add(path)
                yield self._document(entry)

    def _found(self, title: str) -> Any | None:
        """The entry of this title or path, or what it leads to."""
        asked = " ".join(title.replace("_", " ").split())
        spelled = list(dict.fromkeys((title, asked, asked[:1].upper() + asked[1:])))
        entry = next((self.archive.get_entry_by_title(one) for one in spelled if self._has(one)), None)
        if entry is None:
            paths = [space + one.replace(" ", "_") for one in spelled for space in ("", "A/")]
            entry = next((self.archive.get_entry_by_path(one) for one in paths if self._has_path(one)), None)
        for _ in range(_MOST_REDIRECTS):
            if entry is None or not entry.is_redirect:
                return entry
            entry = entry.get_redirect_entry()
        return None

    def _has(self, title: str) -> bool:
        return bool(title) and bool(self.archive.has_entry_by_title(title))

    def _has_path(self, path: str) -> bool:
        return bool(path) and bool(self.archive.has_entry_by_path(path))

    def _document(self, entry: Any) -> Document | Skipped:
        source = str(self.path)
        try:
            path = str(entry.path)
            source = f"{self.path}:{path}"
            title = " ".join(entry.title.replace("_", " ").split()) or path
            item = entry.get_item()
            if item.size > self.max_bytes:
                return Skipped(source, f"It is larger than the limit of {self.max_bytes:,} bytes.")
            data = bytes(item.content)
        except _FAULTS as error:
            return Skipped(source, f"The entry cannot be read: {error}.")
        declared = _CHARSET.search(data[:4096])
        html = decode(data, declared[1].decode("ascii") if declared else "")
        if not isinstance(html, str):
            return Skipped(source, html.reason)
        try:
            body, address = _article(html, title)
            text = to_markdown(body, title)
        except FetchError as error:
            return Skipped(source, str(error))
        if text.strip() == f"# {title}":
            return Skipped(source, "It is empty.")
        key = f"{self.name}:{path}"
        url = address or (self.base and self.base + quote(path.removeprefix("A/"), safe="/:,()!;@$*~"))
        return Document(hashlib.sha1(key.encode()).hexdigest(), title, text, source, url or None)


def _is_html(item: Any) -> bool:
    return bool(item.mimetype.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"))


def _article(html: str, title: str) -> tuple[str, str]:
    """The page without what a reader program needs, and the address that it says it has, or ""."""
    tree = parsed(not_too_deep(without_private(html)))
    link = tree.css_first('link[rel="canonical"]')
    address = (link.attributes.get("href") or "").strip() if link is not None else ""
    for node in tree.css(_NOT_TEXT):
        node.decompose()
    for node in tree.css("h1"):
        if " ".join(node.text().split()) == title:
            node.decompose()
    tree.unwrap_tags(["details", "summary"])
    body = tree.body
    return (body.html or "") if body is not None else "", address if address.startswith(("http://", "https://")) else ""


def _said(archive: Any, name: str) -> str:
    """What the archive says of itself; "" where it does not, or no more."""
    try:
        return bytes(archive.get_metadata(name)).decode("utf-8", "replace").strip()
    except _FAULTS:
        return ""


def _base(archive: Any) -> str:
    """Where the pages stand on the web, to be put before their paths; "" for archives that are not of a wiki."""
    source = _said(archive, "Source")
    parts = urlsplit(source if "://" in source else f"https://{source}")
    wiki = _said(archive, "Scraper").lower().startswith("mwoffliner") or (parts.hostname or "").endswith(
        ".wikipedia.org"
    )
    return f"https://{parts.hostname}/wiki/" if wiki and parts.hostname and "." in parts.hostname else ""
