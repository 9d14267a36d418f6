"""A folder of wiki pages, found by language and title, or by a redirect to them."""

from __future__ import annotations

from iterative_rag.sources.web.stored_pages import StoredPage, StoredPages
from iterative_rag.sources.wikipedia.page_names import PageName


class PageFolder(StoredPages):
    def _key(self, name: str, language: str) -> tuple[str, str]:
        return PageName(name, language).key

    def find(self, name: PageName) -> StoredPage | None:
        """The page stored under this title or a redirect to it."""
        return self._found.get(name.key)

    def names(self) -> list[PageName]:
        """Every page of the folder."""
        pages = {page.place: PageName(page.title, page.language) for page in self._found.values()}
        return list(pages.values())
