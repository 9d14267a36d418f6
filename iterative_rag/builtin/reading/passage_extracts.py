"""Picks the sentences of a page that say most about a question which asks for passages, not for a value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.protocols import Embedder
from iterative_rag.text.patterns import lazy_pattern

# Sentences of a page that are compared by meaning, those that are returned, and the least score of one.
COMPARED, PICKED, LEAST = 12, 2, 0.3
# What nearness of meaning and shared words count, and what the reader's choice of a sentence does: it is made to find
# values, so that of a choice without a word of the question a share is left.
MEANING, WORDS, READ, UNSAID = 0.6, 0.3, 0.45, 0.6
# What a sentence gains that gives a reason where one is asked for, what the first sentence of a page gains, and the
# share that is left to those of a page about something else than the question names.
REASON, OPENING, ELSEWHERE = 0.25, 0.1, 0.7
_ASKS_REASON = lazy_pattern(r"\W*(?:why|how come|(?:for )?what\b.{0,12}\breason)", re.IGNORECASE)
_GIVES_REASON = lazy_pattern(
    r"\b(?:because|so that|in order|due to|owing to|thanks to|therefore|thus|hence|as an?|as the|result of|reasons?"
    r"|purpose|intended|meant to|in honou?r of|named (?:after|for|in)|to (?:mark|celebrate|protect|save|avoid))\b",
    re.IGNORECASE,
)
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
        share = 1.0 if frozenset(content(page.bare_title)) <= asked else ELSEWHERE
        scored = [(unit, share * score) for unit, score in scored]
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
        read_score *= 1.0 if words else UNSAID
        gained = OPENING if unit is units[0] else 0.0
        if _ASKS_REASON.match(question) and _GIVES_REASON.search(unit.text):
            gained += REASON
        scored.append((unit, gained + max(MEANING * float(meaning) + WORDS * words, read_score)))
    return scored
