"""Titles, search and suggestions through the package `pymediawiki`, for `corpus fetch --via wikipedia`.

The package finds out which article is meant; the article itself, its tables and its licence come by our own client. All
requests of the package go through that client, too: public hosts only, one deadline, the pauses that a wiki asks for.
(`wikipedia` has had no release since 2014, and `wikipedia-api` pins the versions of what it needs.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources.web.page_client import RetryPolicy, Web
from iterative_rag.sources.wikipedia.mediawiki_api import Disambiguation, LookUp, MediaWiki, Missing

EXTRA = "wikipedia-package"


class PackageWiki(MediaWiki):
    """A wiki whose titles are looked up by the package, one at a time."""

    def __init__(self, api: str, web: Web, retry: RetryPolicy) -> None:
        super().__init__(api, web, retry)
        self._library = require_package()
        self._opened: Any = None
        self._meant: dict[str, tuple[str, ...]] = {}

    def look_up(self, titles: Sequence[str]) -> Iterator[tuple[str, LookUp]]:
        for title in titles:
            meant = self._meant_by(title)
            yield title, next(result for _, result in super().look_up([meant])) if isinstance(meant, str) else meant

    def _meant_by(self, title: str) -> str | Disambiguation | Missing:
        """The title of the page that the package takes to be meant."""
        errors = self._library.exceptions
        with self._readable():
            try:
                return str(self._wiki().page(title, auto_suggest=False).title)
            except errors.DisambiguationError as error:
                self._meant[error.title] = tuple(error.options)
                return Disambiguation(str(error.title))
            except errors.PageError:
                return Missing(title, "There is no such page.")

    def choices(self, title: str) -> tuple[str, ...]:
        return self._meant.get(title) or super().choices(title)

    def search(self, words: str, limit: int) -> tuple[str, ...]:
        with self._readable():
            return tuple(map(str, self._wiki().search(words, results=limit)))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raises FetchError for what the package raises where a wiki gives an odd answer."""
        try:
            yield
        except (self._library.exceptions.MediaWikiBaseException, LookupError, AttributeError, TypeError) as error:
            raise FetchError(
                f"{self.api} gave an answer that pymediawiki cannot read: {error}.",
                hint="Check that it is the address of a MediaWiki API, or leave --via wikipedia out.",
            ) from error

    def _wiki(self) -> Any:
        """The object of the package, made once: it asks the wiki for its version."""
        if self._opened is None:
            asking = {"_get_response": lambda package, parameters: self._through_own_client(parameters)}
            kind = type("OwnTransport", (self._library.MediaWiki,), asking)
            self._opened = kind(url=self.api, user_agent="")  # our client names itself
        return self._opened

    def _through_own_client(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        asked = {name: str(value) for name, value in parameters.items()}
        return self._retry.call(lambda: self._answer(self._web.get(self.api, asked)))


def require_package() -> Any:
    """The package. Raises MissingExtra without it."""
    try:
        return import_module("mediawiki")
    except ImportError as error:
        raise MissingExtra(EXTRA) from error
