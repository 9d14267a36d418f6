"""How near the documents that a run has listed come to its question, and the passages that come nearest.

Ranks say nothing about that: something is always ranked first. What tells questions that a corpus can answer from those
that it cannot is whether the names of the question stand in what was listed, and how sure the reader was of its best
find (evaluation/README.md has the figures).
"""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.chunking import sentences
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.retrieval.need_words import holds_words, names_in, plain_words, without_scaffolding
from iterative_rag.retrieval.spans import Span
from iterative_rag.text.languages import content_words
from iterative_rag.text.markup import plain
from iterative_rag.types import Citation, Document, Extract, Fact, Need, ShortlistedDocument

# Passages that are shown, each of another document.
SHOWN = 3
# A quote is one sentence, and the next one too where both fit into this.
QUOTE_CHARS = 300


def names_held(question: str, corpus: Corpus, listed: Sequence[ShortlistedDocument]) -> float:
    """The share of the question's names (of its other words, where it has none) that stand in the passages listed."""
    asked = without_scaffolding(question)
    names = names_in(asked) or tuple(plain_words(word) for word in content_words(asked))
    if not names:
        return 0.0
    spans: dict[str, dict[Span, None]] = {}
    for entry in listed:
        spans.setdefault(entry.document_id, {}).update(dict.fromkeys((hit.start, hit.end) for hit in entry.hits))
    told: list[str] = []
    for document_id, places in spans.items():
        document = corpus.document(document_id)
        told += [document.title, *(document.text[start:end] for start, end in places)]
    text = plain_words("\n".join(told))
    return sum(holds_words(text, name) for name in names) / len(names)


def nearest_passages(
    question: str, corpus: Corpus, listed: Sequence[ShortlistedDocument], facts: Sequence[Fact], *, after: int = 0
) -> tuple[Citation, ...]:
    """The best-ranked documents of all searches, each with a sentence or two, numbered from `after` + 1: what the
    reader found there, else the sentence of the best passage that shares most words with the question."""
    ranked: dict[str, ShortlistedDocument] = {}
    for entry in listed:
        if entry.hits and (entry.document_id not in ranked or entry.score > ranked[entry.document_id].score):
            ranked[entry.document_id] = entry
    best = sorted(ranked.values(), key=lambda entry: -entry.score)[:SHOWN]
    words = content_words(question)
    passages = (_nearest(corpus.document(entry.document_id), entry, facts, words) for entry in best)
    return tuple(cited(n, passage) for n, passage in enumerate(passages, start=after + 1))


def cited(n: int, fact: Fact) -> Citation:
    """The citation of a fact under this number."""
    return Citation(
        n,
        fact.title,
        fact.source,
        fact.quote,
        fact.start,
        fact.end,
        fact.page,
        fact.retrieved,
        fact.url,
        fact.copies,
        display=plain(fact.quote),
        date=fact.date,
    )


def _nearest(document: Document, entry: ShortlistedDocument, facts: Sequence[Fact], words: frozenset[str]) -> Fact:
    """A sentence or two of a document, as a fact that answers nothing."""
    best = max((fact for fact in facts if fact.document_id == document.id), key=lambda fact: fact.score, default=None)
    span = (best.start, best.end) if best else (entry.hits[0].start, entry.hits[0].end)
    return fact_at(document, *_sentence(document.text, span, words), Need(""), Extract("", ""))


def _sentence(text: str, span: Span, words: frozenset[str]) -> Span:
    """The sentence of the span that shares most words with the question, with the next one where both are short."""
    spans = [sentence for sentence in sentences(text, *span) if not text.startswith("#", sentence[0])] or [span]
    best = max(range(len(spans)), key=lambda n: (len(words & content_words(text[slice(*spans[n])])), -n))
    start, end = spans[best]
    following = spans[best + 1][1] if best + 1 < len(spans) else end
    end = following if following - start <= QUOTE_CHARS else min(end, start + 2 * QUOTE_CHARS)
    return start, end
