"""MediaWiki XML dumps (pages-articles: .xml, .xml.bz2, .xml.gz) as documents, all or by title. They are fed block by
block: never more than one page is held in memory. What declares a document type or entities is refused: a dump has
neither, and without them nothing can be expanded."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO
from xml.etree import ElementTree

from iterative_rag.errors import FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.dumps import wikitext
from iterative_rag.sources.dumps.wikitext import DumpSite
from iterative_rag.sources.formats.format import Encyclopedia, FileSource
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.sources.wikipedia.page_markdown import require_converters
from iterative_rag.sources.wikipedia.page_names import PageName
from iterative_rag.types import Document

_BLOCK = 1 << 18
_MAX_PASSES = 3  # over the dump, for redirects to titles that a pass has gone by already
_ARTICLES, _FILES, _CATEGORIES = "0", "6", "14"
_MAX_BYTES = 16 * 1024 * 1024  # of a revision, which is held until it ends: MediaWiki's own limit for one is 2 MB
_MAX_DEPTH = 20
_REDIRECT = re.compile(r"\s*#redirect\s*:?\s*\[\[([^\[\]|#\n]{1,300})", re.IGNORECASE)
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_DECLARATION, _OVERLAP = re.compile(rb"<!(?:DOCTYPE|ENTITY)"), 16


class MediaWikiDump(FileSource):
    """The articles of a dump, without redirects and other namespaces, or those of titles with redirects followed. For
    titles the whole dump is read, up to three times."""

    _site = DumpSite()  # until the dump has described its own

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the file cannot be read or holds no article at all."""
        require_converters("dumps")
        self.check()
        pages = self._pages() if self.titles is None else self._listed(self.titles)
        documents = (
            item if isinstance(item, Skipped) else self._document(item)
            for item in pages
            if isinstance(item, Skipped) or not item.redirect
        )
        return self.articles(documents, "Give a dump of pages, like enwiki-latest-pages-articles.xml.bz2")

    def _pages(self) -> Generator[DumpPage | Skipped, None, None]:
        """Articles and redirects; where the dump ends too early, the last item is a Skipped that says so."""
        self._site = DumpSite()
        path: list[ElementTree.Element] = []
        last = fault = ""
        with self.opened() as file:
            blocks = _CheckedBlocks(file)
            try:
                for event, element in ElementTree.iterparse(blocks, ("start", "end")):
                    if event == "start":
                        path.append(element)
                        if len(path) > _MAX_DEPTH:
                            raise DumpDamaged("its elements are nested too deeply")
                    elif self._is_page(path.pop(), path, blocks):
                        page = _page(element)
                        last = page.title
                        if element.findtext("{*}ns", "").strip() in ("", _ARTICLES):
                            yield page
            except DumpDamaged as error:
                fault = str(error)
            except ElementTree.ParseError as error:
                where = "in the middle of a page" if "page" in map(_name, path) else "before its end"
                fault = f"it is cut off {where}" if blocks.ended else f"its XML is damaged ({error})"
            except EOFError:
                fault = "it is cut off in the middle of its compressed data"
            except (OSError, zlib.error) as error:
                fault = f"it cannot be read ({error})"
        if fault:
            after = f"after the page {last!r}" if last else "before its first page"
            yield Skipped(self.root, f"Reading stopped {after}: {fault}.", rest_unread=True)

    def _is_page(self, element: ElementTree.Element, path: list[ElementTree.Element], blocks: _CheckedBlocks) -> bool:
        """Whether an element that has ended, below those of `path`, is a page; what is not needed any more goes."""
        name, above = _name(element), path[-1] if path else element
        if name == "revision":
            for older in above.findall("{*}revision")[:-1]:
                above.remove(older)
        elif name not in ("page", "siteinfo"):
            return False
        blocks.uncut = 0
        if name == "siteinfo":
            self._describe(element, path[0].get(_LANGUAGE, ""))
        elif name == "page":
            above.remove(element)
        return name == "page"

    def _describe(self, element: ElementTree.Element, language: str) -> None:
        site = self._site
        site.language = language
        site.name, site.base = (element.findtext(f"{{*}}{name}", "").strip() for name in ("dbname", "base"))
        for namespace in element.iter():
            names = {_FILES: site.files, _CATEGORIES: site.categories}.get(namespace.get("key", ""), set())
            names.add((namespace.text or "").strip().lower())

    def _listed(self, titles: tuple[str, ...]) -> Iterator[DumpPage | Skipped]:
        """The pages of these titles. The reading is repeated while redirects lead to titles not seen in time."""
        wanted = {key_of(title): title for title in titles}  # by key: the title as it was given
        done: set[str] = set()
        for number in range(_MAX_PASSES):
            before = set(wanted)
            with closing(self._pages()) as pages:
                for page in pages:
                    if isinstance(page, Skipped):
                        if number == 0:
                            yield page
                    elif self._is_wanted(page, wanted, done):
                        yield page
                    if not wanted:
                        return
            if set(wanted) <= before:
                break
        for title in wanted.values():
            yield Skipped(f"{self.path}:{title}", "The dump has no article of this title.")

    def _is_wanted(self, page: DumpPage, wanted: dict[str, str], done: set[str]) -> bool:
        """Whether this is a wanted page; a redirect puts its target in its place."""
        key = key_of(page.title)
        if key not in wanted:
            return False
        title = wanted.pop(key)
        done.add(key)
        if not page.redirect:
            return True
        target = key_of(page.redirect.partition("#")[0])
        if target not in done:
            wanted.setdefault(target, title)
        return False

    def _document(self, page: DumpPage) -> Document | Skipped:
        source = f"{self.path}:{page.title}"
        if not page.title:
            return Skipped(self.root, f"The page {page.id or 'without an id'} has no title.")
        if page.model != "wikitext":
            return Skipped(source, f"It is not wikitext, but {page.model}.")
        if not page.text.strip():
            return Skipped(source, "It is empty.")
        try:
            text, unread = wikitext.to_markdown(page.text, page.title, self._site)
        except FetchError as error:
            return Skipped(source, str(error))
        if text.strip() == f"# {page.title}":
            return Skipped(source, "It holds no text besides templates, files and references.")
        key = f"{self._site.name or self.path.name}:{page.id or page.title}"
        document_id, url = hashlib.sha1(key.encode()).hexdigest(), self._site.url_of(page.title)
        metadata = metadata_of([("revised", page.revised), *not_read(unread)])
        return Document(document_id, page.title, text, source, url, metadata=metadata)


class DumpDamaged(Exception):
    """Not a dump, or damaged from here on. The message is half a sentence: "it ends in the middle of a page"."""


@dataclass(frozen=True, slots=True)
class DumpPage:
    """The newest revision of a page. `redirect` is its target, or ""; `model` is "wikitext" for articles. `revised` is
    the day (ISO) on which it was written."""

    id: str
    title: str
    redirect: str
    model: str
    text: str
    revised: str = ""


class _CheckedBlocks:
    """The bytes of a dump for its parser. Raises DumpDamaged for declarations, and for an element without an end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._last = b""  # of the bytes before
        self.uncut = 0  # bytes since the last element that was read whole
        self.ended = False

    def read(self, _: int = _BLOCK) -> bytes:
        data = self._file.read(_BLOCK)
        self.ended = not data
        self.uncut += len(data)
        seen = self._last + data.replace(b"\0", b"")  # also in UTF-16
        self._last = seen[-_OVERLAP:]
        if _DECLARATION.search(seen):
            raise DumpDamaged("it declares a document type or entities, which no dump does")
        if self.uncut > _MAX_BYTES:
            raise DumpDamaged(f"a page, tag or comment is longer than {_MAX_BYTES / 1e6:.0f} MB")
        return data


def _page(page: ElementTree.Element) -> DumpPage:
    def said(path: str) -> str:
        return page.findtext("/".join(f"{{*}}{name}" for name in path.split("/")), "").strip()

    text = said("revision/text")
    moved = page.find("{*}redirect")
    redirect = moved.get("title", "") if moved is not None else ""
    if not redirect and (target := _REDIRECT.match(text)):
        redirect = target[1].strip()
    title, model = " ".join(said("title").split()), said("revision/model") or "wikitext"
    revised = said("revision/timestamp").partition("T")[0]
    return DumpPage(said("id"), title, redirect, model, text, revised)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def key_of(title: str) -> str:
    """The same for all spellings that a wiki takes for one title."""
    return PageName(" ".join(title.replace("_", " ").split())).key[1]


FORMAT = Encyclopedia(lambda path, titles: MediaWikiDump(path, titles=titles))
