"""Picks the sentences of a page that say most about a question which asks for passages, not for a value."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.protocols import Embedder

VERSION = "extracts-1"
# Sentences of a page that are compared by meaning, those that are returned, and the least score of one.
COMPARED, PICKED, LEAST = 12, 2, 0.3
# What nearness of meaning and shared words count, and what the reader's choice of a sentence does.
MEANING, WORDS, READ = 0.6, 0.3, 0.45
# The score of the first sentences of the article that a question without any other word is about.
LEAD = (0.8, 0.6)
# Words that name no thing: "what was X like", "what happened to X", "the reason for X".
_EMPTY = frozenset(content("like reason happened come known work function operate"))


def pick(question: str, page: UnitPage, embedder: Embedder, read: Sequence[Finding]) -> list[Finding]:
    """The best sentences of a page, each as the value of its own finding; none where the page names nothing asked for.

    `read` is what the reader found on the page: it knows which sentence answers better than which words of it.
    """
    names = read_query(question).name_words
    asked = frozenset(content(question)) - _EMPTY
    units = [unit for unit in page.units if not unit.cells]
    about = frozenset(content(page.title))
    if not asked or (names and not names & (about | frozenset(content(page.text)))):
        return []
    if asked <= about:
        scored = list(zip(units, LEAD, strict=False))
    else:
        scored = _scored(question, asked - about, units, embedder, read)
    best = sorted(scored, key=lambda item: -item[1])[:PICKED]
    return [Finding(unit.text, unit.text, min(1.0, score), unit.text) for unit, score in best if score >= LEAST]


def _scored(
    question: str, asked: frozenset[str], units: Sequence[PageUnit], embedder: Embedder, read: Sequence[Finding]
) -> list[tuple[PageUnit, float]]:
    """The sentences that share most words with the question and those that the reader chose, with their scores."""
    chosen = {finding.quote: finding.score for finding in reversed(read)}
    rated = [(len(asked & frozenset(content(unit.text))) / len(asked), unit) for unit in units]
    rated.sort(key=lambda item: (item[1].text not in chosen, -item[0]))
    compared = rated[:COMPARED]
    if not compared:
        return []
    meanings = embedder.embed_documents([unit.text for _, unit in compared]) @ embedder.embed_query(question)
    scored = []
    for (words, unit), meaning in zip(compared, meanings, strict=True):
        read_score = READ + chosen[unit.text] / 2 if unit.text in chosen else 0.0
        scored.append((unit, max(MEANING * float(meaning) + WORDS * words, read_score)))
    return scored
