"""The XML of a MediaWiki dump -> its pages, fed block by block; never more than one page is held in memory.

The standard library's expat, set to refuse every document type and entity declaration: without them nothing can be
expanded, so an XML bomb is impossible. A dump has neither. The index beside a multistream dump tells at which byte the
stream of 100 pages begins that holds a title.
"""

from __future__ import annotations

import bz2
import html
import re
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.parsers import expat

from iterative_rag.sources.wikipedia.page_names import PageName

ARTICLES = 0
_FILES, _CATEGORIES = "6", "14"
_MAX_TAG_BYTES = 16 * 1024 * 1024  # expat holds a tag or comment until it ends
_MAX_DEPTH = 20
_REDIRECT = re.compile(r"\s*#redirect\s*:?\s*\[\[([^\[\]|#\n]{1,300})", re.IGNORECASE)
# The elements that are read, each with what it stands in.
_WANTED = frozenset(
    [("page", name) for name in ("title", "ns", "id")] + [("revision", "text"), ("revision", "model")]
    + [("siteinfo", "dbname"), ("siteinfo", "base"), ("namespaces", "namespace")]
)  # fmt: skip


class DumpDamaged(Exception):
    """Not a dump, or damaged from here on. The message is half a sentence: "it ends in the middle of a page"."""


@dataclass(frozen=True, slots=True)
class DumpPage:
    """The newest revision of a page. `redirect` is its target, or ""; `model` is "wikitext" for articles.

    `text` is "" where it is `too_large`.
    """

    id: str
    title: str
    namespace: int
    redirect: str
    model: str
    text: str
    too_large: bool


@dataclass(slots=True)
class DumpSite:
    """The wiki as its dump describes it, with the names, in lower case, of its file and category namespaces."""

    language: str = ""
    name: str = ""
    base: str = ""
    files: set[str] = field(default_factory=lambda: {"file", "image", "media"})
    categories: set[str] = field(default_factory=lambda: {"category"})

    def url_of(self, title: str) -> str | None:
        if not self.base.startswith(("http://", "https://")):
            return None
        return f"{self.base.rpartition('/')[0]}/{quote(title.replace(' ', '_'), safe='/:,()!;@$*~')}"


class PagesParser:
    """Takes bytes and gives complete pages. Raises DumpDamaged; the pages before the damage can still be taken."""

    def __init__(self, max_chars: int) -> None:
        self.site = DumpSite()
        self._max_chars = max_chars
        self._complete: list[DumpPage] = []
        self._path: list[str] = []
        self._text: list[str] | None = None  # of the current element, where it is wanted
        self._length = 0
        self._page: dict[str, str] = {}
        self._namespace = ""
        self._uneventful = 0  # bytes since the last event
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text, parser.buffer_size = True, 1 << 16
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.CharacterDataHandler = self._characters

    def feed(self, data: bytes) -> None:
        self._uneventful += len(data)
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            raise DumpDamaged(f"its XML is damaged ({error})") from error
        if self._uneventful > _MAX_TAG_BYTES:
            raise DumpDamaged(f"a tag or comment is longer than {_MAX_TAG_BYTES / 1e6:.0f} MB")

    def finish(self) -> None:
        """Raises DumpDamaged where the data end before the last page or the dump does."""
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            where = "in the middle of a page" if "page" in self._path else "before its end"
            raise DumpDamaged(f"it is cut off {where}") from error

    def take(self) -> list[DumpPage]:
        """The pages that were completed since the last call."""
        complete, self._complete = self._complete, []
        return complete

    # --- what expat calls ---

    def _refuse(self, *_: Any) -> None:
        raise DumpDamaged("it declares a document type or entities, which no dump does")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._uneventful = 0
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise DumpDamaged("its elements are nested too deeply")
        self._text, self._length = [] if tuple(self._path[-2:]) in _WANTED else None, 0
        match name:
            case "page":
                self._page = {}
            case "redirect":
                self._page["redirect"] = attributes.get("title", "")
            case "namespace":
                self._namespace = attributes.get("key", "")
            case "mediawiki":
                self.site.language = attributes.get("xml:lang", "")

    def _characters(self, data: str) -> None:
        self._uneventful = 0
        if self._text is None:
            return
        self._length += len(data)
        if self._length > self._max_chars:
            self._page["too large"] = "yes"
            self._text.clear()
        else:
            self._text.append(data)

    def _end(self, name: str) -> None:
        self._uneventful = 0
        self._path.pop()
        if name == "page":
            self._complete.append(self._completed())
            self._page = {}
        if self._text is None:
            return
        text, self._text = "".join(self._text), None
        match name:
            case "namespace" if self._namespace == _FILES:
                self.site.files.add(text.strip().lower())
            case "namespace" if self._namespace == _CATEGORIES:
                self.site.categories.add(text.strip().lower())
            case "dbname":
                self.site.name = text
            case "base":
                self.site.base = text.strip()
            case _:
                self._page[name] = text

    def _completed(self) -> DumpPage:
        get = self._page.get
        too_large = "too large" in self._page
        text = "" if too_large else get("text", "")
        redirect = get("redirect", "")
        if not redirect and text.lstrip()[:1] == "#" and (target := _REDIRECT.match(text)):
            redirect = target[1].strip()
        namespace = get("ns", "0").strip()
        return DumpPage(
            id=get("id", "").strip(),
            title=" ".join(get("title", "").split()),
            namespace=int(namespace) if namespace.lstrip("-").isdigit() else 0,
            redirect=redirect,
            model=get("model", "wikitext").strip(),
            text=text,
            too_large=too_large,
        )


_DUMP = re.compile(r"(.*multistream)(\d*)\.xml(.*)\.bz2")
_BLOCK = 1 << 18
_MAX_LINE = 1 << 16
# A stream is 100 pages, and MediaWiki's own limit for one is 2 MB.
_MAX_STREAM = 512 * 1024 * 1024


def key_of(title: str) -> str:
    """The same for all spellings that a wiki takes for one title."""
    return PageName(" ".join(title.replace("_", " ").split())).key[1]


def index_of(dump: Path) -> Path | None:
    """The index beside a dump, if there is one."""
    named = _DUMP.fullmatch(dump.name)
    if named is None:
        return None
    name = f"{named[1]}-index{named[2]}.txt{named[3]}"
    return next((path for path in (dump.with_name(f"{name}.bz2"), dump.with_name(name)) if path.is_file()), None)


def site_of(dump: Path, max_chars: int) -> DumpSite:
    """The wiki, which the first stream of a multistream dump describes. Raises as `pages_of` does."""
    parser = PagesParser(max_chars)
    for data in _stream(dump, 0):
        parser.feed(data)
    return parser.site


def pages_of(dump: Path, index: Path, keys: Collection[str], max_chars: int) -> Generator[DumpPage, None, None]:
    """The pages of the streams that hold these titles, others among them.

    Raises OSError, EOFError, ValueError or DumpDamaged where index or stream is damaged.
    """
    for offset in sorted(_offsets(index, keys)):
        parser = PagesParser(max_chars)
        parser.feed(b"<mediawiki>")
        for data in _stream(dump, offset):
            parser.feed(data)
            yield from parser.take()


def _offsets(index: Path, keys: Collection[str]) -> set[int]:
    """Where the streams begin that hold these titles."""
    offsets: dict[str, int] = {}
    with (bz2.open if index.suffix == ".bz2" else open)(index, "rb") as file:
        while (line := file.readline(_MAX_LINE)) and len(offsets) < len(keys):
            offset, _, title = line.decode("utf-8", "replace").rstrip("\n").split(":", 2)
            key = key_of(html.unescape(title) if "&" in title else title)
            if key in keys:
                offsets[key] = int(offset)
    return set(offsets.values())


def _stream(dump: Path, offset: int) -> Iterator[bytes]:
    decompressor = bz2.BZ2Decompressor()
    length = 0
    with dump.open("rb") as file:
        file.seek(offset)
        while not decompressor.eof:
            compressed = file.read(_BLOCK) if decompressor.needs_input else b""
            if decompressor.needs_input and not compressed:
                raise EOFError("it is cut off")
            data = decompressor.decompress(compressed, _BLOCK)
            length += len(data)
            if length > _MAX_STREAM:
                raise DumpDamaged(f"a stream is larger than {_MAX_STREAM / 1e6:.0f} MB")
            yield data
