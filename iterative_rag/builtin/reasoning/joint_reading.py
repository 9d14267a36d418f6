"""Reads two articles together for a question that asks several things at once, where it is read whole: one says whom or
what it means, the other has the answer, and neither answers alone.

Only articles that name each other are read together. Of 115 questions of HotpotQA set aside that nothing takes apart
the best value of these pairs has an F1 of 61, that of the three best articles in pairs 53; what the reader makes of a
pair tells right values from wrong ones with an area under the curve of 0.79 (0.69).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.value_agreement import agree
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.reading.answer_form import fits, trimmed
from iterative_rag.builtin.reading.denials import denies_value
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.chunking import readable_units
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.types import Document, Extract, Fact, Need, Support

# Passages of the search; articles, best first, to which others are linked, and that may be linked to them; pairs that
# are read; characters that are shown of each, as in training.
PASSAGES, FIRST, LINKED, PAIRS, SHOWN = 24, 2, 16, 4, 420


@dataclass(frozen=True, slots=True)
class _Part:
    """What is shown of an article."""

    document: Document
    start: int

    @property
    def end(self) -> int:
        return min(self.start + SHOWN, len(self.document.text))

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """The whole sentences and rows that begin in what is shown; no headings."""
        text, near = self.document.text, readable_units(self.document.text, self.start, self.end + SHOWN)
        return [span for span in near if span[0] < self.end and not text.startswith("#", span[0])]

    def names(self, other: _Part) -> bool:
        title = other.document.title.split(" (")[0]
        return bool(re.search(rf"(?<!\w){re.escape(title)}(?!\w)", self.text))


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in the sentence `said` of one article; `other` is the one that leads to it.

    The trust is the square root of the chance that the pair answers so, which is near the share of such values that are
    right: of those with a chance of 0.3 four in five, of 0.7 nine in ten.
    """

    text: str
    trust: float
    holding: _Part
    said: tuple[int, int]
    other: _Part


@dataclass(frozen=True, slots=True)
class JointReading:
    """Implements protocols.Confirmer: adds what two articles say together."""

    planner: QuestionPlanner
    reader: ReaderRoles

    def confirm(self, need: Need, facts: Sequence[Fact], corpus: Corpus) -> tuple[Fact, ...]:
        """The facts, and two more if two articles have a value together: one with it, and one without, which leads to
        it. Facts with another value are trusted the less, the surer it is."""
        asks = read_query(need.question).kind is not AnswerKind.YES_NO and self.planner.is_described(need.question)
        values = self._values(need.question, corpus) if asks else ()
        value = max(values, key=lambda value: value.trust, default=None)
        if value is None:
            return tuple(facts)
        doubted = (
            fact if agree(fact.value, value.text) else replace(fact, score=round(fact.score * (1 - value.trust), 4))
            for fact in facts
        )
        return (*_facts(need, value), *doubted)

    def _values(self, question: str, corpus: Corpus) -> Iterator[_Value]:
        query, pairs = read_query(question), _pairs(question, corpus)
        texts = [" ".join(f"{part.document.title}: {part.text}" for part in reversed(pair)) for pair in pairs]
        for (first, later), (answerable, _, _, spans) in zip(pairs, self.reader.looks(question, texts), strict=True):
            for text, share in spans:
                value = trimmed(query, text)
                placed = (
                    _Value(value, round((answerable * share) ** 0.5, 4), part, said, other)
                    for part, other in ((later, first), (first, later))
                    for said in part.sentences
                    if value in (sentence := part.document.text[slice(*said)])
                    and not denies_value(query, sentence, value)
                )
                if value and fits(query, value) and (found := next(placed, None)):
                    yield found


def _pairs(question: str, corpus: Corpus) -> list[tuple[_Part, _Part]]:
    """Pairs of articles one of which names the other, the best first; of each its best passage, or its beginning if
    that is there."""
    (hits,) = corpus.search([question], PASSAGES)
    parts: dict[str, _Part] = {}
    for hit in hits:
        if hit.document_id not in parts and len(parts) < LINKED:
            parts[hit.document_id] = _Part(corpus.document(hit.document_id), 0 if hit.end <= SHOWN else hit.start)
    best = list(parts.values())
    ranked = sorted((a + b, a, b) for a in range(min(FIRST, len(best))) for b in range(a + 1, len(best)))
    linked = ((best[a], best[b]) for _, a, b in ranked if best[a].names(best[b]) or best[b].names(best[a]))
    return list(linked)[:PAIRS]


def _facts(need: Need, value: _Value) -> Iterator[Fact]:
    asked, other = set(content(need.question)), value.other
    told = other.sentences or [(other.start, other.end)]
    led = max(told, key=lambda span: len(asked & set(content(other.document.text[slice(*span)]))))
    for part, span, text, support in (
        (value.holding, value.said, value.text, Support.SILENT),  # no quote says it alone
        (other, led, "", None),
    ):
        quote = part.document.text[slice(*span)]
        yield replace(fact_at(part.document, *span, need, Extract(quote, quote, text, value.trust)), support=support)
