"""MediaWiki XML dumps (pages-articles: .xml, .xml.bz2, .xml.gz) as documents, streamed; all or by title."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing

from iterative_rag.errors import FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.dumps import wikitext
from iterative_rag.sources.dumps.pages_xml import ARTICLES, DumpDamaged, DumpPage, DumpSite, PagesParser, key_of
from iterative_rag.sources.formats.format import Encyclopedia, FileSource
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.sources.wikipedia.page_markdown import require_converters
from iterative_rag.types import Document

_BLOCK = 1 << 18
_MAX_PASSES = 3  # over the dump, for redirects to titles that a pass has gone by already


class MediaWikiDump(FileSource):
    """The articles of a dump, without redirects and other namespaces, or those of titles with redirects followed. For
    titles the whole dump is read, up to three times."""

    _site = DumpSite()

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises MissingExtra, or CorpusError when the file cannot be read or holds no article at all."""
        require_converters("dumps")
        self.check()
        pages = self._pages() if self.titles is None else self._listed(self.titles)
        documents = (
            self._document(item) if isinstance(item, DumpPage) else item
            for item in pages
            if isinstance(item, Skipped) or (item.namespace == ARTICLES and not item.redirect)
        )
        return self.articles(documents, "Give a dump of pages, like enwiki-latest-pages-articles.xml.bz2")

    def _pages(self) -> Generator[DumpPage | Skipped, None, None]:
        """Every page; where the dump ends too early, the last item is a Skipped that says so."""
        parser = PagesParser()
        self._site = parser.site
        last = fault = ""
        with self.opened() as file:
            block = b"start"
            while block:
                try:
                    block = file.read(_BLOCK)
                    parser.feed(block) if block else parser.finish()
                    for page in parser.take():
                        last = page.title
                        yield page
                except DumpDamaged as error:
                    block, fault = b"", str(error)
                except EOFError:
                    block, fault = b"", "it is cut off in the middle of its compressed data"
                except (OSError, zlib.error) as error:
                    block, fault = b"", f"it cannot be read ({error})"
        if fault:
            after = f"after the page {last!r}" if last else "before its first page"
            yield Skipped(self.root, f"Reading stopped {after}: {fault}.", rest_unread=True)

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
        if page.namespace != ARTICLES or key not in wanted:
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


FORMAT = Encyclopedia(lambda path, titles: MediaWikiDump(path, titles=titles))
