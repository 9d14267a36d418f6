"""MediaWiki XML dumps (pages-articles: .xml, .xml.bz2, .xml.gz) as documents, streamed; whole or by titles."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import zlib
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

from iterative_rag.errors import CorpusError, FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.dumps import wikitext
from iterative_rag.sources.dumps.pages_xml import ARTICLES, DumpDamaged, DumpPage, DumpSite, PagesParser
from iterative_rag.sources.dumps.title_index import Multistream, index_of, key_of
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

SUFFIXES = (".xml", ".xml.bz2", ".xml.gz")
_BLOCK = 1 << 18
_MOST_ROUNDS = 3  # redirects to redirects are followed so often
# A dump of a million odd pages must not make a report of a million lines.
MOST_SKIPPED = 1000


class MediaWikiDump:
    """The articles of a dump. Redirects and other namespaces are left out; a listed redirect brings what it leads to.

    `titles` makes it a list: with the index of a multistream dump beside it, only the streams that hold them are read;
    without one the dump is read through, once more for redirects that lead back.
    """

    def __init__(
        self, path: Path | str, *, titles: Collection[str] | None = None, most_chars: int = wikitext.MOST_CHARS
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.titles = None if titles is None else tuple(dict.fromkeys(titles))
        self.most_chars = most_chars
        self._site = DumpSite()

    @property
    def root(self) -> str:
        """What the documents belong to: those of it that are not yielded any more have vanished."""
        return str(self.path)

    @property
    def total(self) -> int | None:
        """How many documents there are at most: known for a list only, since counting would take a reading."""
        return None if self.titles is None else len(self.titles)

    @property
    def language(self) -> str:
        """The wiki's language as the dump names it; "" before the first document."""
        return self._site.language

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the file cannot be read or holds no article at all."""
        wikitext.require_parsers()
        if not self.path.is_file():
            raise CorpusError(f"There is no file {self.path}.", hint="Check the path.")
        found = False
        skipped = 0
        for item in self._listed(self.titles) if self.titles is not None else self._whole():
            one = self._document(item) if isinstance(item, DumpPage) else item
            skipped += isinstance(one, Skipped)
            found = found or isinstance(one, Document)
            if isinstance(one, Document) or skipped <= MOST_SKIPPED:
                yield one
        if skipped > MOST_SKIPPED:
            yield Skipped(
                str(self.path), f"{counted(skipped - MOST_SKIPPED, 'more page was', 'more pages were')} left out."
            )
        if not found and not skipped:
            raise CorpusError(
                f"{self.path} holds no article.",
                hint="Give a dump of pages, like enwiki-latest-pages-articles.xml.bz2",
            )

    # --- reading ---

    def _whole(self) -> Iterator[DumpPage | Skipped]:
        for page in self._pages():
            if isinstance(page, Skipped) or (page.namespace == ARTICLES and not page.redirect):
                yield page

    def _pages(self) -> Generator[DumpPage | Skipped, None, None]:
        """Every page; where the dump ends too early, a last Skipped says so."""
        parser = PagesParser(self.most_chars)
        self._site = parser.site
        last = ""
        fault = ""
        with self._opened() as file:
            while not fault:
                try:
                    block = file.read(_BLOCK)
                    parser.feed(block) if block else parser.finish()
                except DumpDamaged as error:
                    block, fault = b"", str(error)
                except EOFError:
                    block, fault = b"", "it is cut off in the middle of its packed data"
                except (OSError, zlib.error) as error:
                    block, fault = b"", f"it cannot be read ({error})"
                for page in parser.taken():
                    last = page.title
                    yield page
                if not block:
                    break
        if fault:
            after = f"After the page {last!r}" if last else "Before its first page"
            yield Skipped(str(self.path), f"{after} there is no more to read: {fault}.", rest_unread=True)

    def _opened(self) -> BinaryIO:
        try:
            if self.path.suffix == ".bz2":
                return cast(BinaryIO, bz2.open(self.path, "rb"))
            if self.path.suffix == ".gz":
                return cast(BinaryIO, gzip.open(self.path, "rb"))
            return self.path.open("rb")
        except OSError as error:
            raise CorpusError(
                f"{self.path} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error

    # --- a list of titles ---

    def _listed(self, titles: tuple[str, ...]) -> Iterator[DumpPage | Skipped]:
        wanted = {key_of(title): title for title in titles}  # by key: as which title it was asked for
        done: set[str] = set()
        index = index_of(self.path)
        if index is not None:
            try:
                yield from self._by_index(Multistream(self.path, index, self.most_chars), wanted, done)
            except (OSError, EOFError, ValueError, DumpDamaged) as error:
                yield Skipped(str(index), f"The index does not fit its dump ({error}): the dump is read through.")
                index = None
        if index is None:
            yield from self._by_reading(wanted, done)
        for title in wanted.values():
            yield Skipped(f"{self.path}:{title}", "The dump has no article of this title.")

    def _by_index(self, streams: Multistream, wanted: dict[str, str], done: set[str]) -> Iterator[DumpPage]:
        self._site = streams.site()
        for _ in range(_MOST_ROUNDS):
            if not wanted:
                return
            before = set(wanted)
            for offset in sorted(set(streams.offsets(wanted).values())):
                for page in streams.pages(offset):
                    if self._is_wanted(page, wanted, done):
                        yield page
            if before == set(wanted):
                return

    def _by_reading(self, wanted: dict[str, str], done: set[str]) -> Iterator[DumpPage | Skipped]:
        for number in range(_MOST_ROUNDS):
            before = set(wanted)
            with closing(self._pages()) as pages:
                for page in pages:
                    if not wanted:
                        return
                    if isinstance(page, Skipped):
                        if number == 0:
                            yield page
                    elif self._is_wanted(page, wanted, done):
                        yield page
            if set(wanted) <= before:
                return  # no redirect has led to a title that this reading had passed already

    def _is_wanted(self, page: DumpPage, wanted: dict[str, str], done: set[str]) -> bool:
        """Whether the page is one of the list that was not had yet; a redirect puts its goal into its place."""
        key = key_of(page.title)
        if page.namespace != ARTICLES or key not in wanted:
            return False
        asked = wanted.pop(key)
        done.add(key)
        if not page.redirect:
            return True
        goal = key_of(page.redirect.partition("#")[0])
        if goal not in done:
            wanted.setdefault(goal, asked)
        return False

    # --- a page ---

    def _document(self, page: DumpPage) -> Document | Skipped:
        source = f"{self.path}:{page.title}"
        if not page.title:
            return Skipped(str(self.path), f"The page {page.id or 'without an id'} has no title.")
        if page.too_large:
            return Skipped(source, f"It is larger than the limit of {self.most_chars:,} characters.")
        if page.model != "wikitext":
            return Skipped(source, f"It is no wikitext, but {page.model}.")
        if not page.text.strip():
            return Skipped(source, "It is empty.")
        try:
            text = wikitext.to_markdown(page.text, page.title, self._site.not_links)
        except FetchError as error:
            return Skipped(source, str(error))
        if text.strip() == f"# {page.title}":
            return Skipped(source, "Nothing is left of it without templates, files and references.")
        key = f"{self._site.name or self.path.name}:{page.id or page.title}"
        return Document(hashlib.sha1(key.encode()).hexdigest(), page.title, text, source, self._site.url_of(page.title))
