"""The XML of a MediaWiki dump -> its pages, fed block by block; never more than one page is held.

The standard library's expat, set to refuse every document type and entity declaration: without them nothing can be
expanded, so no bomb can be built. A dump has neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from xml.parsers import expat

ARTICLES = 0
_SHOWN_OTHERWISE = (6, 14)  # the namespaces of files and categories
_MOST_TAG_BYTES = 16 * 1024 * 1024  # expat holds a tag or comment until it ends
_MOST_LEVELS = 20
_REDIRECT = re.compile(r"\s*#redirect\s*:?\s*\[\[([^\[\]|#\n]{1,300})", re.IGNORECASE)
_OF_PAGE = frozenset({"title", "ns", "id", "text", "model"})


class DumpDamaged(Exception):
    """What is no dump, or one no further. The message is half a sentence: "it ends in the middle of a page"."""


@dataclass(frozen=True, slots=True)
class DumpPage:
    """A page's newest revision. `redirect` is the title that it leads to, or ""; `model` is "wikitext" for articles.

    `text` is "" for one that is `too_large`.
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
    """What the dump says of its wiki. `not_links` are the names, in lower case, of the namespaces of files and such."""

    language: str = ""
    name: str = ""
    base: str = ""
    not_links: set[str] = field(default_factory=lambda: {"file", "image", "media", "category"})

    def url_of(self, title: str) -> str | None:
        if not self.base.startswith(("http://", "https://")):
            return None
        return f"{self.base.rpartition('/')[0]}/{quote(title.replace(' ', '_'), safe='/:,()!;@$*~')}"


class PagesParser:
    """Feed it bytes, take the pages that have ended. Raises DumpDamaged; pages that ended before can still be taken."""

    def __init__(self, most_chars: int) -> None:
        self.site = DumpSite()
        self.most_chars = most_chars
        self._ready: list[DumpPage] = []
        self._path: list[str] = []
        self._said: list[str] | None = None  # the text of the element that is being read, if it is wanted
        self._length = 0
        self._page: dict[str, str] = {}
        self._too_large = False
        self._space = 0
        self._silent = 0  # bytes since the last element began or ended
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._take
        self._parser = parser

    def feed(self, data: bytes) -> None:
        self._silent += len(data)
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            raise DumpDamaged(f"its XML is damaged ({error})") from error
        if self._silent > _MOST_TAG_BYTES:
            raise DumpDamaged(f"a tag or comment is longer than {_MOST_TAG_BYTES / 1e6:.0f} MB")

    def finish(self) -> None:
        """The data have ended. Raises DumpDamaged where the last page, or the dump, has not."""
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            where = "in the middle of a page" if "page" in self._path else "before its end"
            raise DumpDamaged(f"it is cut off {where}") from error

    def taken(self) -> list[DumpPage]:
        ready, self._ready = self._ready, []
        return ready

    # --- what expat calls ---

    def _refuse(self, *_: Any) -> None:
        raise DumpDamaged("it declares a document type or entities, which no dump does")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        above = self._path[-1] if self._path else ""
        self._path.append(name)
        if len(self._path) > _MOST_LEVELS:
            raise DumpDamaged("its elements are nested too deeply")
        self._said = None
        if name == "page":
            self._page = {}
            self._too_large = False
        elif name == "mediawiki":
            self.site.language = attributes.get("xml:lang", "")
        elif name == "redirect":
            self._page["redirect"] = attributes.get("title", "")
        elif name == "namespace":
            self._space = int(key) if (key := attributes.get("key", "")).isdigit() else 0
            self._said, self._length = [], 0
        elif (above in ("page", "revision", "content") and name in _OF_PAGE) or above == "siteinfo":
            self._said, self._length = [], 0

    def _take(self, data: str) -> None:
        if self._said is None:
            self._silent = 0
            return
        self._silent = 0
        self._length += len(data)
        if self._length > self.most_chars:
            self._too_large = True
            self._said.clear()
        else:
            self._said.append(data)

    def _end(self, name: str) -> None:
        self._silent = 0
        self._path.pop()
        if name == "page":
            self._finish_page()
        if self._said is None:
            return
        said = "".join(self._said)
        self._said = None
        above = self._path[-1] if self._path else ""
        if name == "namespace":
            if self._space in _SHOWN_OTHERWISE:
                self.site.not_links.add(said.strip().lower())
        elif above == "siteinfo":
            self.site.name = said if name == "dbname" else self.site.name
            self.site.base = said.strip() if name == "base" else self.site.base
        elif above == "page" or name != "id":  # the id of a page, not that of a revision
            self._page[name] = said

    def _finish_page(self) -> None:
        get = self._page.get
        text = "" if self._too_large else get("text", "")
        redirect = get("redirect", "")
        if not redirect and text.lstrip()[:1] == "#" and (leads := _REDIRECT.match(text)):
            redirect = leads[1].strip()
        space = get("ns", "0").strip()
        self._ready.append(
            DumpPage(
                id=get("id", "").strip(),
                title=" ".join(get("title", "").split()),
                namespace=int(space) if space.lstrip("-").isdigit() else 0,
                redirect=redirect,
                model=get("model", "wikitext").strip(),
                text=text,
                too_large=self._too_large,
            )
        )
        self._page = {}
