"""A ZIM file as a corpus that nobody indexed: its own indexes name pages, whose passages are ranked as ours are."""

from __future__ import annotations

import copy
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from uuid import UUID

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import CatalogueEntry, ids_of_title, without_variants
from iterative_rag.index.filters import is_meant, nothing_within
from iterative_rag.index.indexed_corpus import fuse
from iterative_rag.index.rank_fusion import Ranker
from iterative_rag.index.sparse import bm25_document, bm25_order
from iterative_rag.index.zim.candidates import PAGE_BYTES, Candidates, content_words
from iterative_rag.index.zim.file_indexes import FileIndexes
from iterative_rag.protocols import Skipped
from iterative_rag.retrieval import chunking
from iterative_rag.retrieval.analysers import ENGLISH
from iterative_rag.sources.zim_file import ZimFile
from iterative_rag.types import Document, Hit, Passage, Within

# Candidates that are looked through for a need, pages of them that are converted, and passages of these that are
# embedded: the best by words, and the beginnings of the first pages (a linked one may share no word with the need).
# Chosen on 32 questions of FRAMES dev, over 2,460 pages.
CANDIDATES, PAGES, EMBEDDED, LEADS = 50, 20, 40, 8
# What a need may take: then the pages and vectors that are there are ranked; the first pages are read in any case.
NEED_SECONDS, READ_FIRST = 6.0, 8
_AT_ONCE, _EMBEDDED_AT_ONCE = 4, 16
_RANKED = 200  # passages by their words that are fused
# Characters of pages that are kept converted, with their passages and terms: about ten times that in bytes.
_KEPT_CHARS = 5_000_000
# Titles and candidates that are looked through where a part is asked, or a title.
_LOOKED_AT = 500
# For a misspelt word, that many titles with its beginning, which is at least so many letters.
_SUGGESTED, _BEGINNING = 100, 3


@dataclass(frozen=True, slots=True)
class Article:
    """A page that was read: its passages with the terms of each."""

    document: Document
    passages: tuple[Passage, ...]
    terms: tuple[Mapping[int, float], ...]


class KeptArticles:
    """The articles that were read last, of `_KEPT_CHARS` characters together. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._articles: dict[str, Article] = {}  # the oldest first

    def get(self, path: str) -> Article | None:
        with self._lock:
            if article := self._articles.pop(path, None):
                self._articles[path] = article
            return article

    def put(self, path: str, article: Article) -> None:
        with self._lock:
            self._articles[path] = article
            chars = sum(len(kept.document.text) for kept in self._articles.values())
            while chars > _KEPT_CHARS and len(self._articles) > 1:
                chars -= len(self._articles.pop(next(iter(self._articles))).document.text)


class ZimCorpus:
    """Implements protocols.Corpus. Safe to use from several threads. The id of a document is its path in the file."""

    def __init__(self, name: str, file: ZimFile, ranker: Ranker) -> None:
        self.name, self._ranker, self._lock = name, ranker, threading.Lock()
        self._wanted: tuple[Within, ...] = ()
        self._among: tuple[str, ...] = ()
        self._open(file)

    def _open(self, file: ZimFile) -> None:
        self.file, self.fingerprint = file, f"{file.identity}/{file.articles}"
        self._indexes, self._kept = FileIndexes(file), KeptArticles()
        self._candidates = Candidates(file, self._indexes)

    def for_one_run(self) -> ZimCorpus:
        """It over the file that lies there now, a newer one perhaps; a fault of the last run is forgotten."""
        with self._lock:
            if self.file.is_renewed or self._indexes.fault:
                self._indexes.close()
                self._open(ZimFile(self.file.path))
            return copy.copy(self)

    def within(self, wanted: Sequence[Within]) -> ZimCorpus:
        """What of it is within all of these, over the same file. Raises NothingWithin where nothing is."""
        part = copy.copy(self)
        part._wanted = tuple(within for within in wanted if within)
        part.fingerprint = f"{self.fingerprint}/{part._wanted!r}"
        # The date, the language and the like are those of the file; titles are looked up; sources are met in searches.
        page = next(self._meant(self.file.paths()), None)
        of_file = page and all(is_meant(page, replace(within, title="", source="")) for within in wanted)
        if not of_file or not all(part.listing(within.title, 0, 1)[0] for within in wanted if within.title):
            raise nothing_within(self.name, part._wanted, [], self.file.articles)
        return part

    def among(self, paths: Iterable[str]) -> ZimCorpus:
        """These pages alone, over the same file."""
        part = copy.copy(self)
        part._among = tuple(sorted(paths))
        part.fingerprint = f"{self.fingerprint}/{part._among!r}"
        return part

    @property
    def notice(self) -> str:
        """Whether only titles are searched."""
        more = f"To find more, take a file with one, or index it: iterative-rag index {self.file.path}"
        told = f"{self.name} has no full-text index, so pages are looked for by their titles alone. {more}"
        return "" if self.file.has_words else told

    @property
    def languages(self) -> dict[str, int]:
        """The number of pages in the language of the file, where that is not English."""
        foreign = [code for code in self.file.languages if code != "en"]
        return {foreign[0]: self.file.articles} if foreign and "en" not in self.file.languages else {}

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25 over the pages that the file names for it, fused by
        reciprocal rank."""
        asked = [query for query in dict.fromkeys(queries) if query.strip()] if limit > 0 else []
        hits = {query: self._best(query, limit) for query in asked}
        return [hits.get(query, []) for query in queries]

    def _best(self, query: str, limit: int) -> list[Hit]:
        deadline = time.monotonic() + NEED_SECONDS
        articles = self._read(self._pages_for(query), deadline)
        passages = [passage for article in articles for passage in article.passages]
        terms = [weights for article in articles for weights in article.terms]
        by_words = bm25_order(query, terms, (*self.languages,) or (ENGLISH,))[:_RANKED]
        leads = {article.document.id: article.passages[0] for article in articles[:LEADS] if article.passages}
        firsts = [n for n, passage in enumerate(passages) if leads.get(passage.document_id) is passage]
        embedded = list(dict.fromkeys([*by_words[:EMBEDDED], *firsts]))
        texts = [passages[n].embedded_text for n in embedded]
        scores = self._ranker.similarities(query, texts, deadline, _EMBEDDED_AT_ONCE)
        by_meaning = sorted(range(len(scores)), key=lambda n: -scores[n])
        fused = fuse([UUID(int=embedded[n]) for n in by_meaning], [UUID(int=n) for n in by_words])
        titles = {article.document.id: article.document.title for article in articles}
        hits = []
        for entry in fused[: self._ranker.needed(limit)]:
            passage = passages[entry.point.int]
            ranks = entry.score, entry.dense_rank, entry.sparse_rank
            hits.append(Hit(passage.document_id, titles[passage.document_id], passage.start, passage.end, *ranks))
        shown = {(passage.document_id, passage.start): passage.text for passage in passages}
        return self._ranker.reranked(query, hits, lambda hit: shown[hit.document_id, hit.start])[:limit]

    # --- pages -------------------------------------------------------------------------------------

    def _pages_for(self, query: str) -> tuple[str, ...]:
        """The paths of the pages to read for a query; within a part, of all that the file names for it and of those
        whose titles are asked for."""
        if self._among:
            return self._among
        paths = self._candidates.of(query, _LOOKED_AT if self._wanted else CANDIDATES)
        for within in self._wanted:
            paths += self._indexes.titled(_plain(within.title), _LOOKED_AT) if within.title else []
        if self._wanted:
            paths = [entry.id for entry in islice(self._meant(dict.fromkeys(paths)), CANDIDATES)]
        return self._candidates.densest(query, tuple(paths), PAGES)

    def _meant(self, paths: Iterable[str]) -> Iterator[CatalogueEntry]:
        """The pages and redirects of these paths that are within what is wanted, as a catalogue shows them."""
        language = next(iter(self.file.languages), "")
        for path in paths:
            if (title := self.file.title(path)) is not None:
                source = f"{self.file.path}:{path}"
                entry = CatalogueEntry(path, title, self.file.url(path), source, self.file.dated, language)
                if all(is_meant(entry, within) for within in self._wanted):
                    yield entry

    def listing(self, beginning: str, offset: int, limit: int) -> tuple[list[CatalogueEntry], int]:
        """The pages whose title has words that begin so, `limit` from `offset` on, and about how many there are; for ""
        those in the order of their paths."""
        if words := _plain(beginning):
            paths = self._indexes.titled(words, _LOOKED_AT)
            entries, total = self._meant(paths), len(paths)
        else:
            entries, total = self._meant(self.file.paths()), self.file.articles
        return list(islice(entries, offset, offset + limit)), total

    def catalogue(self, titles: Iterable[str]) -> list[CatalogueEntry]:
        """The pages of these titles, or of redirects from them, each under the title that was asked for."""
        pages = [(title, page) for title in titles if not isinstance(page := self.file.entry(title), Skipped)]
        paths = [(title, str(page.path)) for title, page in pages]
        return [CatalogueEntry(path, title, self.file.url(path), f"{self.file.path}:{path}") for title, path in paths]

    def digest(self) -> str:
        """What the file says that it is, wherever it lies."""
        return self.fingerprint

    def has(self, document_id: str) -> bool:
        return isinstance(self._article(document_id), Article)

    def _read(self, paths: Sequence[str], deadline: float) -> list[Article]:
        """The pages of these paths that can be read in time, each once."""

        def read(path: str) -> Article | Skipped:
            if time.monotonic() > deadline and path not in paths[:READ_FIRST]:
                return Skipped(path, "There was no time to read it.")
            return self._article(path)

        with ThreadPoolExecutor(_AT_ONCE, "zim") as pool:
            articles = [article for article in pool.map(read, paths) if isinstance(article, Article)]
        return list({article.document.id: article for article in articles}.values())

    def _article(self, path: str) -> Article | Skipped:
        if kept := self._kept.get(path):
            return kept
        document = self.file.page(path, PAGE_BYTES)
        if isinstance(document, Skipped):
            return document
        document = without_variants(document)
        passages = tuple(chunking.chunk(document))
        language = next(iter(self.languages), ENGLISH)
        terms = [dict(zip(*bm25_document(part.embedded_text, language), strict=True)) for part in passages]
        article = Article(document, passages, tuple(terms))
        self._kept.put(path, article)
        return article

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when there is none of that id."""
        article = self._article(document_id)
        if isinstance(article, Skipped):
            raise CorpusError(f"{article.source} is not read: {article.reason}", hint="Search for another page.")
        return article.document

    def find(self, title: str) -> list[Document]:
        """The document of that title, or of a redirect from it. Raises CorpusError naming the nearest titles."""
        entry = self.file.entry(title)
        if not isinstance(entry, Skipped):
            return [self.document(str(entry.path))]
        near = [(path, path.replace("_", " ")) for path in self._candidates.of(title, 20)]
        return [self.document(path) for path in ids_of_title(self.name, title, near)]

    def titles_near(self, text: str) -> list[str]:
        """Titles with words of a text, or with words that begin as one of them which no title holds."""
        words = [word for word in content_words(text) if len(word) >= _BEGINNING]
        paths = dict.fromkeys(
            path for pair in pairwise(words) for path in self._indexes.titled(" ".join(pair), _SUGGESTED)
        )
        for word in words:
            titled = self._indexes.titled(word, _SUGGESTED)
            for end in range(len(word) - 1, _BEGINNING - 1, -1) if not titled else ():
                titled += self._indexes.titled(word[:end], _SUGGESTED)
            paths.update(dict.fromkeys(titled))
        return [title for path in paths if (title := self.file.title(path))]

    def close(self) -> None:
        self._kept = KeptArticles()
        self._indexes.close()


def _plain(pattern: str) -> str:
    """The words of a title or a pattern of one."""
    return " ".join(re.findall(r"[^\W_]+", pattern))
