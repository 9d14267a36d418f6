"""Wikipedia links as datasets write them -> titles of the English Wikipedia; other links are kept."""

from __future__ import annotations

import re

from iterative_rag.errors import UsageError
from iterative_rag.sources.wikipedia.page_names import PageName, is_link, page_name

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


__all__ = ["is_link", "links_in", "page_of", "title_of"]
