"""What an article links to inside its corpus, by link or by naming a title, and which articles name it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.text.folding import folded, plain_title
from iterative_rag.types import Document

_MOST = 40
_SEARCHED = 40
_WORD = re.compile(r"[^\W_]+")
_LONGEST_TITLE = 8


@dataclass(frozen=True, slots=True)
class ArticleLinks:
    """Ids and titles: the articles that this one names, and those that name it."""

    to: tuple[tuple[str, str], ...]
    by: tuple[tuple[str, str], ...]


def article_links(corpus: IndexedCorpus, document: Document) -> ArticleLinks:
    """A title counts as named where its words stand in the text in this order, case and accents aside."""
    by_words: dict[tuple[str, ...], tuple[str, str]] = {}
    for entry in corpus.catalogue():
        if words := _words(plain_title(entry.title)):
            by_words.setdefault(words, (entry.id, entry.title))
    own = _words(plain_title(document.title))
    by_words.pop(own, None)
    return ArticleLinks(tuple(_named(document.text, by_words)), tuple(_naming(corpus, document, own)))


def _named(text: str, titles: dict[tuple[str, ...], tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """In the order in which they are first named; of titles that begin alike the longest."""
    words = [folded(word) for word in _WORD.findall(text)]
    longest = min(_LONGEST_TITLE, max(map(len, titles), default=0))
    found: dict[tuple[str, str], None] = {}
    at = 0
    while at < len(words) and len(found) < _MOST:
        size = next((size for size in range(longest, 0, -1) if tuple(words[at : at + size]) in titles), 0)
        if size:
            found[titles[tuple(words[at : at + size])]] = None
        at += size or 1
    return found


def _naming(corpus: IndexedCorpus, document: Document, own: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    """Among the articles that a search for the title finds."""
    found: dict[tuple[str, str], None] = {}
    for hit in corpus.search([document.title], _SEARCHED)[0]:
        if hit.document_id == document.id or (hit.document_id, hit.title) in found:
            continue
        text = f" {' '.join(_words(corpus.document(hit.document_id).text))} "
        if own and f" {' '.join(own)} " in text:
            found[hit.document_id, hit.title] = None
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(folded(word) for word in _WORD.findall(text))
