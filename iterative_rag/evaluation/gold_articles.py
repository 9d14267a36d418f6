"""Wikipedia links as datasets write them, and the gold articles of a question in a corpus: by paragraph, by URL, or by
a title however it is written."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.records import Paragraph, Question
from iterative_rag.sources import front_matter
from iterative_rag.sources.wikipedia.page_names import PageName, is_link, page_name
from iterative_rag.system.files import readable
from iterative_rag.text.folding import PLAIN_SIGNS, plain_title
from iterative_rag.text.folding import folded as without_accents

if TYPE_CHECKING:
    from iterative_rag.index.catalogue import CatalogueEntry

# The differences allowed between two spellings of one name: "J. R. R. Tolkien", "St Louis", "Jean Luc Godard".
_LOOSE = re.compile(r"[\s.,'\"-]+")

_HEAD_CHARS = front_matter.MAX_CHARS + 1000
_MARKDOWN = (".md", ".markdown")

Ids = tuple[str, ...]

# --- links -----------------------------------------------------------------------------------

_SEPARATOR = re.compile(r"[\s,;]+(?=(?:https?:)?//)")
_OF_DATASETS = "en"


def links_in(cell: str) -> list[str]:
    """The links of a text that holds one or several, separated by white space, commas or semicolons."""
    return [link for part in _SEPARATOR.split(cell.strip()) if (link := part.strip(" \t\n,;"))]


def title_of(link: str) -> str:
    """The title that a link to an English article names; any other link, or a title, as it is."""
    link = link.strip(" \t\n,;")
    page = page_of(link)
    return page.title if page is not None and page.language == _OF_DATASETS else link


def page_of(link: str) -> PageName | None:
    """The article of a Wikipedia, in whatever language, that a link names; None for anything else."""
    if not is_link(link):
        return None
    try:
        return page_name(link.replace("&amp;", "&").rstrip("/"))
    except UsageError:  # another site, or a link to no article
        return None


# --- articles --------------------------------------------------------------------------------


def paragraph_id(paragraph: Paragraph) -> str:
    """The id of the document made of a paragraph: the same title and text have the same one in every dataset."""
    return hashlib.sha256(f"{paragraph.title}\0{paragraph.text}".encode()).hexdigest()[:32]


class GoldIndex:
    """The names of the documents of a corpus, at three levels of strictness; the strictest that knows a title wins.

    A document is known by its title, by the title in its URL and, after these, by the redirects that its Markdown file
    lists in its front matter (`redirects: ["Old title", ...]`, as `evaluate fetch` writes it). Where several documents
    share a title, each of them counts as needed.
    """

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._ids: set[str] = set()
        self._pages: dict[tuple[str, str], str] = {}
        # Documents without a URL are kept apart: those may be articles of any Wikipedia.
        self._titles, self._bare, self._redirects = _Names(), _Names(), _Names()
        for entry in entries:
            self._ids.add(entry.id)
            self._titles.add(entry.title, entry.id)
            if entry.url is None:
                self._bare.add(entry.title, entry.id)
            else:
                self._pages[_address(entry.url)] = entry.id
                self._titles.add(title_of(entry.url), entry.id)
            for old in _redirects_of(entry.source):
                self._redirects.add(old, entry.id)

    def resolve(self, question: Question) -> tuple[Ids, Ids]:
        """The ids of the documents that the question needs, and the titles of those that the corpus does not hold.

        A question that brings its paragraphs needs the documents made of the supporting ones; only where the corpus
        holds none of them it is asked for their titles.
        """
        needed = [paragraph for paragraph in question.paragraphs if paragraph.supporting]
        if any(paragraph_id(paragraph) in self._ids for paragraph in needed):
            articles = [(paragraph.title, self._held(paragraph_id(paragraph))) for paragraph in needed]
        else:
            articles = [(title, self._named(title)) for title in question.gold_titles]
        ids = dict.fromkeys(document_id for _, ids in articles for document_id in ids)
        return tuple(ids), tuple(dict.fromkeys(title for title, ids in articles if not ids))

    def _held(self, document_id: str) -> Ids:
        return (document_id,) if document_id in self._ids else ()

    def _named(self, title: str) -> Ids:
        if is_link(title):  # to another Wikipedia or another site
            page = page_of(title)
            if document_id := self._pages.get(_address(title)):
                return (document_id,)
            return (self._bare.find(page.title) if page else ()) or self._redirects.find(title)
        decoded = title_of("/wiki/" + title.replace("#", "%23"))
        for names in (self._titles, self._redirects):
            if ids := names.find(title) or names.find(decoded):
                return ids
        return ()


def _address(url: str) -> tuple[str, str]:
    """The identity of a page, whatever the spelling of its URL: language and title, or the URL itself."""
    page = page_of(url)
    return (page.language, folded(page.title)) if page else ("", url.partition("#")[0].rstrip("/"))


class _Names:
    """Names -> document ids: as written, whatever its typography and case, and without punctuation and accents."""

    def __init__(self) -> None:
        self._levels: tuple[tuple[Callable[[str], str], defaultdict[str, dict[str, None]]], ...] = (
            (plain_title, defaultdict(dict)),
            (folded, defaultdict(dict)),
            (loose, defaultdict(dict)),
        )

    def add(self, name: str, document_id: str) -> None:
        for key_of, ids in self._levels:
            if key := key_of(name):
                ids[key][document_id] = None

    def find(self, name: str) -> Ids:
        for key_of, ids in self._levels:
            if matches := ids.get(key_of(name)):
                # Two articles differ only in an accent or a dot: ambiguous.
                return tuple(matches) if key_of is not loose or len(matches) == 1 else ()
        return ()


def folded(title: str) -> str:
    """The title whatever its case, dashes, quotes, ellipses, underscores and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", plain_title(title).translate(PLAIN_SIGNS)).casefold().split())


def loose(title: str) -> str:
    """`folded`, and without accents, spaces, dots, commas, quotes and hyphens."""
    return _LOOSE.sub("", without_accents(folded(title)))


def _redirects_of(source: str) -> Iterator[str]:
    """The redirects in the front matter of a Markdown page, which the index does not keep.

    A page that was moved or cannot be read any more has none: its titles still match.
    """
    if not source.lower().endswith(_MARKDOWN):
        return
    try:
        with readable(Path(source)).open(encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD_CHARS)
    except OSError:
        return
    fields, _ = front_matter.split(head.removeprefix("\ufeff"))
    redirects = fields.get("redirects", ())
    yield from (redirects,) if isinstance(redirects, str) else redirects
