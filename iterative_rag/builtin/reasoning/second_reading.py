"""A second reading of a need, by a small language model: one short call over the passages that values were found in.

A small model reads well and never declines: it answers from the wrong article as readily as from the right one. So its
agreement tells most where the built-in reader is half sure, its silence or another value where that is not sure; and
what it alone finds counts only where the quote bears it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from iterative_rag.builtin.language.value_agreement import agree
from iterative_rag.builtin.reasoning.reader_roles import DECISIONS
from iterative_rag.protocols import FactCheck, SentenceReader
from iterative_rag.retrieval.chunking import readable_units
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.types import Document, Extract, Fact, Need, Sentence, Support

# Passages that are shown, and sentences or rows before and after the quote of each.
PASSAGES, AROUND = 3, 2
# Characters of one sentence or row, and how far around a quote they are looked for.
SHORTEST, LONGEST, REACH = 4, 500, 1500
# Measured on 226 needs about articles set aside (`scripts/train/fit_second_reading.py`) and 72 over the starter corpus.
# What both readers have found was right in 25 of 35 cases where the built-in one trusted it from 0.4 to 0.5, below that
# in 10 of 41. Where the model has found something else, or nothing, a value was right in 8 of 12 cases from a trust of
# 0.7 on, and in 6 of 29 below. What the model alone has found and its sentence bears out was right in 5 of 7. Neither
# is trusted like a sure value of the built-in reader: then more wrong answers are called well supported.
AGREED_FROM, BORNE_OUT, SURE, DOUBTED = 0.4, 0.65, 0.7, 0.4


class Documents(Protocol):
    """What the texts around quotes are taken from: a corpus."""

    def document(self, document_id: str, /) -> Document: ...


@dataclass(frozen=True, slots=True)
class SecondReading:
    """Implements protocols.Confirmer. `check` is that of every fact."""

    reader: SentenceReader
    check: FactCheck

    def confirm(self, need: Need, facts: Sequence[Fact], corpus: Documents) -> tuple[Fact, ...]:
        """The facts, trusted more where the model found the same and less where it found something else, and that where
        its sentence bears it out. Yes and no are left to the built-in reader: a small model says yes to most needs."""
        decided = any(fact.value.casefold() in DECISIONS for fact in facts)
        shown = [] if decided else sentences_of(facts, corpus)
        said = self.reader.read(need, shown) if shown else None
        if said is None:
            return tuple(facts)
        sentence, value = said
        own = () if not value or is_known(value, facts) else self._proved(need, sentence, value, corpus)
        # Beside a value that the model alone has found and proved, the built-in reader was right in 1 of 8 cases.
        rated = [_rated(fact, value, 1.0 if own else SURE) for fact in facts]
        return tuple(sorted((*rated, *own), key=lambda fact: -fact.score))

    def _proved(self, need: Need, sentence: Sentence, value: str, corpus: Documents) -> tuple[Fact, ...]:
        """What the model alone has found, where its sentence bears it out."""
        document, extract = (
            corpus.document(sentence.document_id),
            Extract(sentence.text, sentence.text, value, BORNE_OUT),
        )
        fact = self.check(fact_at(document, sentence.start, sentence.end, need, extract), document.text)
        return (fact,) * (fact.support is Support.AGREES)


def is_known(value: str, facts: Sequence[Fact]) -> bool:
    """Whether the built-in reader has found a value, too, and does not doubt it."""
    return any(agree(fact.value, value) and not fact.is_doubtful for fact in facts)


def _rated(fact: Fact, said: str, sure: float) -> Fact:
    if said and agree(fact.value, said):
        return replace(fact, score=max(fact.score, BORNE_OUT)) if fact.score >= AGREED_FROM else fact
    return fact if fact.score >= sure else replace(fact, score=min(fact.score, DOUBTED))


def sentences_of(facts: Sequence[Fact], corpus: Documents) -> list[Sentence]:
    """The sentences and rows around the quotes of the most trusted facts, those of one place together, best first."""
    shown: list[Sentence] = []
    passages = 0
    for fact in sorted(facts, key=lambda fact: -fact.score):
        if any(other.document_id == fact.document_id and other.start <= fact.start < other.end for other in shown):
            continue
        document = corpus.document(fact.document_id)
        near = readable_units(document.text, max(0, fact.start - REACH), min(fact.end + REACH, len(document.text)))
        # No heading, and nothing that is too long for one sentence.
        units = [span for span in near if SHORTEST <= span[1] - span[0] <= LONGEST and document.text[span[0]] != "#"]
        at = next((n for n, (_, end) in enumerate(units) if end > fact.start), 0)
        for start, end in units[max(0, at - AROUND) : at + AROUND + 1]:
            sentence = Sentence(document.id, document.title, start, end, document.text[start:end])
            if sentence not in shown:
                shown.append(sentence)
        passages += 1
        if passages == PASSAGES:
            break
    return shown
