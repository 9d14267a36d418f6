"""A folder of wiki pages, found by language and title, or by a redirect to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.sources.front_matter import Fields, text_of
from iterative_rag.sources.web.stored_pages import StoredPages, listed
from iterative_rag.sources.wikipedia.page_names import PageName


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in the folder. `revision` is 0 where its file does not name it."""

    title: str
    place: Path
    language: str
    revision: int
    redirects: tuple[str, ...]


class PageFolder(StoredPages):
    """Usable from several threads of one process."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._found: dict[tuple[str, str], StoredPage] = {}

    def find(self, name: PageName) -> StoredPage | None:
        """The page stored under this title or a redirect to it."""
        return self._found.get(name.key)

    def names(self) -> list[PageName]:
        """Every page of the folder."""
        pages = {page.place: PageName(page.title, page.language) for page in self._found.values()}
        return list(pages.values())

    def write(self, fields: Fields, text: str) -> Path:
        """Store a page under its front matter, in place of an older revision if there is one; its redirects stay."""
        title, language = text_of(fields, "title"), text_of(fields, "language")
        with self._lock:
            older = self._found.get(PageName(title, language).key)
            path = older.place if older else self._new_place(title, f"{language}:{title}")
        redirects = tuple(dict.fromkeys([*(older.redirects if older else ()), *listed(fields, "redirects")]))
        fields = {**fields, "redirects": redirects}
        self._store(path, fields, text)
        self._drop_moved(path, redirects, language)
        self._learn(path, fields)
        return path

    def add_redirects(self, path: Path, titles: Sequence[str]) -> None:
        """Add titles that lead to a stored page to its front matter."""
        fields, text = self._content(path)
        fields["redirects"] = tuple(dict.fromkeys([*listed(fields, "redirects"), *titles]))
        self._store(path, fields, text)
        self._drop_moved(path, titles, text_of(fields, "language"))
        self._learn(path, fields)

    def _drop_moved(self, path: Path, titles: Sequence[str], language: str) -> None:
        """Remove pages stored under a title that now leads elsewhere: they would be in the corpus twice."""
        for title in titles:
            older = self._found.get(PageName(title, language).key)
            if older and older.place != path and PageName(older.title, language).key == PageName(title, language).key:
                older.place.unlink(missing_ok=True)

    def _learn(self, path: Path, fields: Fields) -> None:
        title, language, redirects = text_of(fields, "title"), text_of(fields, "language"), listed(fields, "redirects")
        revision = text_of(fields, "revision")
        number = int(revision) if revision.isascii() and revision.isdigit() else 0
        with self._lock:
            for name in (title, *redirects) if title else ():
                self._found[PageName(name, language).key] = StoredPage(title, path, language, number, redirects)
