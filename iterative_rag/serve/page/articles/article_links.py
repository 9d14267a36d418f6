"""What an article links to inside its corpus, by link or by naming a title, and which articles name it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.text.folding import folded, plain_title
from iterative_rag.types import Document

_MOST = 40
_SEARCHED = 40
_WORD = re.compile(r"[^\W_]+")
_LONGEST_TITLE = 8
# Ids and titles by the words of the title; of each corpus those of its newest generation.
Titles = dict[tuple[str, ...], tuple[str, str]]
_kept: dict[tuple[str, str], Titles] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ArticleLinks:
    """Ids and titles: the articles that this one names, and those that name it."""

    to: tuple[tuple[str, str], ...]
    by: tuple[tuple[str, str], ...]


def article_links(corpus: IndexedCorpus, document: Document) -> ArticleLinks:
    """A title counts as named where its words stand in the text in this order, case and accents aside."""
    own = _words(plain_title(document.title))
    named = (article for article in _named(document.text, _titles(corpus)) if article[0] != document.id)
    return ArticleLinks(tuple(named), tuple(_naming(corpus, document, own)))


def _titles(corpus: IndexedCorpus) -> Titles:
    """The articles by the words of their titles, kept until the corpus changes."""
    key = corpus.name, corpus.fingerprint
    with _lock:
        if (known := _kept.get(key)) is None:
            known = {}
            for entry in corpus.catalogue():
                if words := _words(plain_title(entry.title)):
                    known.setdefault(words, (entry.id, entry.title))
            for old in [old for old in _kept if old[0] == corpus.name]:
                del _kept[old]
            _kept[key] = known
        return known


def _named(text: str, titles: Titles) -> Iterable[tuple[str, str]]:
    """In the order in which they are first named; of titles that begin alike the longest."""
    words = [folded(word) for word in _WORD.findall(text)]
    longest = min(_LONGEST_TITLE, max(map(len, titles), default=0))
    articles: dict[tuple[str, str], None] = {}
    at = 0
    while at < len(words) and len(articles) < _MOST:
        size = next((size for size in range(longest, 0, -1) if tuple(words[at : at + size]) in titles), 0)
        if size:
            articles[titles[tuple(words[at : at + size])]] = None
        at += size or 1
    return articles


def _naming(corpus: IndexedCorpus, document: Document, own: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    """Among the articles that a search for the title finds."""
    articles: dict[tuple[str, str], None] = {}
    for hit in corpus.search([document.title], _SEARCHED)[0]:
        if hit.document_id == document.id or (hit.document_id, hit.title) in articles:
            continue
        text = f" {' '.join(_words(corpus.document(hit.document_id).text))} "
        if own and f" {' '.join(own)} " in text:
            articles[hit.document_id, hit.title] = None
    return articles


def _words(text: str) -> tuple[str, ...]:
    return tuple(folded(word) for word in _WORD.findall(text))
