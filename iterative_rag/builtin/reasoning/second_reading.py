"""A second reading of a need, by a small language model: one short call over the passages that values were found in.

A small model reads well and never declines: it answers from the wrong article as readily as from the right one. So its
agreement proves nothing, but where it finds something else the value is in doubt; and what it alone finds counts only
where the quote bears it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from iterative_rag.builtin.networks import log_odds
from iterative_rag.builtin.reading.finding_odds import Features, chance
from iterative_rag.builtin.reading.findings import probability, trust
from iterative_rag.builtin.reasoning.reader_roles import DECISIONS
from iterative_rag.builtin.reasoning.value_agreement import agree
from iterative_rag.protocols import FactCheck, QuoteReader, SentenceReader
from iterative_rag.retrieval.chunking import readable_units
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.types import Document, Extract, Fact, Need, Sentence, Support

# Passages that are shown, and sentences or rows before and after the quote of each.
PASSAGES, AROUND = 3, 2
# Characters of one sentence or row, and how far around a quote they are looked for.
SHORTEST, LONGEST, REACH = 4, 500, 1500
# Characters on each side of a sentence by which the built-in reader judges it.
AROUND_CHARS = 300
# Weights of logistic regressions on needs about articles set aside (`scripts/train/fit_second_reading.py`): of a value
# that the built-in reader has found, and of one that the model alone has found. Agreement is not put to use: on near
# misses, which the articles set aside do not have, it made half of the new answers wrong.
SHARED = {"bias": -0.18, "own": 0.72, "agreed": 1.76}
OWN = {"bias": -0.56, "near": 0.37, "alone": 0.18}


class Documents(Protocol):
    """What the texts around quotes are taken from: a corpus."""

    def document(self, document_id: str, /) -> Document: ...


@dataclass(frozen=True, slots=True)
class SecondReading:
    """Implements protocols.Confirmer. `check` is that of every fact."""

    reader: SentenceReader
    judge: QuoteReader
    check: FactCheck

    def confirm(self, need: Need, facts: Sequence[Fact], corpus: Documents) -> tuple[Fact, ...]:
        """The facts, trusted less where the model found something else, and what its quote bears out of that. Yes and
        no are left to the built-in reader: a small model says yes to most questions."""
        decided = any(fact.value.casefold() in DECISIONS for fact in facts)
        shown = [] if decided else sentences_of(facts, corpus)
        said = self.reader.read(need, shown) if shown else None
        if said is None:
            return tuple(facts)
        sentence, value = said
        rated = [fact if agree(fact.value, value) else _doubted(fact, value) for fact in facts]
        if value and not any(agree(fact.value, value) for fact in facts):
            document = corpus.document(sentence.document_id)
            score = _score(OWN, own_features(self.judge, need, sentence, value, document))
            extract = Extract(sentence.text, sentence.text, value, score)
            own = self.check(fact_at(document, sentence.start, sentence.end, need, extract), document.text)
            rated += [own] * (own.support is Support.AGREES)
        return tuple(sorted(rated, key=lambda fact: -fact.score))


def _doubted(fact: Fact, said: str) -> Fact:
    return replace(fact, score=min(fact.score, _score(SHARED, shared_features(fact, said))))


def _score(weights: Features, features: Features) -> float:
    return round(trust(chance(weights, features)), 4)


def shared_features(fact: Fact, said: str) -> Features:
    """What tells whether a fact is right whose need the model answered with `said` ("": with nothing)."""
    agreed = bool(said) and agree(fact.value, said)
    return {"bias": 1.0, "own": log_odds(probability(fact.score)), "agreed": float(agreed)}


def own_features(judge: QuoteReader, need: Need, sentence: Sentence, value: str, document: Document) -> Features:
    """What tells whether a value that the model alone has found is right: what the built-in reader makes of it."""
    around = document.text[max(0, sentence.start - AROUND_CHARS) : sentence.end + AROUND_CHARS]
    near, alone = (judge.chance(need.question, value, sentence.title, text) for text in (around, sentence.text))
    return {"bias": 1.0, "near": log_odds(near), "alone": log_odds(alone)}


def sentences_of(facts: Sequence[Fact], corpus: Documents) -> list[Sentence]:
    """The sentences and rows around the quotes of the most trusted facts, those of one place together, best first."""
    shown: list[Sentence] = []
    passages = 0
    for fact in sorted(facts, key=lambda fact: -fact.score):
        if any(other.document_id == fact.document_id and other.start <= fact.start < other.end for other in shown):
            continue
        document = corpus.document(fact.document_id)
        near = readable_units(document.text, max(0, fact.start - REACH), min(fact.end + REACH, len(document.text)))
        units = [(start, end) for start, end in near if _is_shown(document.text[start:end])]
        at = next((n for n, (_, end) in enumerate(units) if end > fact.start), 0)
        for start, end in units[max(0, at - AROUND) : at + AROUND + 1]:
            sentence = Sentence(document.id, document.title, start, end, document.text[start:end])
            if sentence not in shown:
                shown.append(sentence)
        passages += 1
        if passages == PASSAGES:
            break
    return shown


def _is_shown(text: str) -> bool:
    """Whether this is no heading, and not too long for one sentence."""
    return SHORTEST <= len(text) <= LONGEST and not text.startswith("#")
