"""The XML of a MediaWiki dump -> its pages, fed block by block; never more than one page is held in memory. What
declares a document type or entities is refused: a dump has neither, and without them nothing can be expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from iterative_rag.sources.wikipedia.page_names import PageName

ARTICLES = 0
_FILES, _CATEGORIES = "6", "14"
_MAX_BYTES = 16 * 1024 * 1024  # of a revision, which is held until it ends: MediaWiki's own limit for one is 2 MB
_MAX_DEPTH = 20
_REDIRECT = re.compile(r"\s*#redirect\s*:?\s*\[\[([^\[\]|#\n]{1,300})", re.IGNORECASE)
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_DECLARATION, _OVERLAP = re.compile(rb"<!(?:DOCTYPE|ENTITY)"), 16


class DumpDamaged(Exception):
    """Not a dump, or damaged from here on. The message is half a sentence: "it ends in the middle of a page"."""


@dataclass(frozen=True, slots=True)
class DumpPage:
    """The newest revision of a page. `redirect` is its target, or ""; `model` is "wikitext" for articles. `revised` is
    the day (ISO) on which it was written."""

    id: str
    title: str
    namespace: int
    redirect: str
    model: str
    text: str
    revised: str = ""


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

    def __init__(self) -> None:
        self.site = DumpSite()
        self._parser: Any = ElementTree.XMLPullParser(("start", "end"))
        self._path: list[ElementTree.Element] = []
        self._last = b""  # of the bytes before
        self._uncut = 0  # bytes since the last element that was read whole

    def feed(self, data: bytes) -> None:
        self._uncut += len(data)
        seen, self._last = self._last + data.replace(b"\0", b""), data[-_OVERLAP:]  # also in UTF-16
        if _DECLARATION.search(seen):
            raise DumpDamaged("it declares a document type or entities, which no dump does")
        if self._uncut > _MAX_BYTES:
            raise DumpDamaged(f"a page, tag or comment is longer than {_MAX_BYTES / 1e6:.0f} MB")
        self._parser.feed(data)

    def finish(self) -> None:
        """Raises DumpDamaged where the data end before the last page or the dump does."""
        try:
            self._parser.close()
        except ElementTree.ParseError as error:
            where = "in the middle of a page" if "page" in map(_name, self._path) else "before its end"
            raise DumpDamaged(f"it is cut off {where}") from error

    def take(self) -> Iterator[DumpPage]:
        """The pages that were completed since the last call."""
        try:
            for event, element in self._parser.read_events():
                if event == "start":
                    self._path.append(element)
                    if len(self._path) > _MAX_DEPTH:
                        raise DumpDamaged("its elements are nested too deeply")
                elif (page := self._ended(self._path.pop())) is not None:
                    yield page
        except ElementTree.ParseError as error:
            raise DumpDamaged(f"its XML is damaged ({error})") from error

    def _ended(self, element: ElementTree.Element) -> DumpPage | None:
        name, above = _name(element), self._path[-1] if self._path else element
        if name == "revision":
            for older in above.findall("{*}revision")[:-1]:
                above.remove(older)
        elif name not in ("page", "siteinfo"):
            return None
        self._uncut = 0
        if name == "siteinfo":
            self._describe(element)
        if name != "page":
            return None
        above.remove(element)
        return self._page(element)

    def _describe(self, element: ElementTree.Element) -> None:
        site = self.site
        site.language = self._path[0].get(_LANGUAGE, "")
        site.name, site.base = (element.findtext(f"{{*}}{name}", "").strip() for name in ("dbname", "base"))
        for namespace in element.iter():
            names = {_FILES: site.files, _CATEGORIES: site.categories}.get(namespace.get("key", ""), set())
            names.add((namespace.text or "").strip().lower())

    def _page(self, page: ElementTree.Element) -> DumpPage:
        def said(path: str) -> str:
            return page.findtext("/".join(f"{{*}}{name}" for name in path.split("/")), "").strip()

        text = said("revision/text")
        moved = page.find("{*}redirect")
        redirect = moved.get("title", "") if moved is not None else ""
        if not redirect and (target := _REDIRECT.match(text)):
            redirect = target[1].strip()
        title, model = " ".join(said("title").split()), said("revision/model") or "wikitext"
        namespace = int(said("ns")) if said("ns").lstrip("-").isdecimal() else 0
        revised = said("revision/timestamp").partition("T")[0]
        return DumpPage(said("id"), title, namespace, redirect, model, text, revised)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def key_of(title: str) -> str:
    """The same for all spellings that a wiki takes for one title."""
    return PageName(" ".join(title.replace("_", " ").split())).key[1]
