"""Weighs the readings of a question on a table by a log-linear model over named features, and says how far the
likeliest one is to be trusted.

The weights are fitted on questions whose answers are known, but not their readings (Pasupat and Liang, 2015), by
scripts/train/fit_table_reading.py."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from iterative_rag.builtin.language.function_words import content, folded, word_set
from iterative_rag.builtin.language.lexicon import alike
from iterative_rag.builtin.language.nouns import BARE_KINDS
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.reading_soundness import CALCULATED, is_sound
from iterative_rag.builtin.tables.table_operations import TableOperation, TableReading, readings
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion, canonical

_WEIGHTS = Path(__file__).parent / "reading_weights.toml"
# Most readings whose soundness is judged.
MOST_JUDGED = 200


@dataclass(frozen=True, slots=True)
class ChosenReading:
    """The likeliest sound reading. `probability` is that of its values among the sound ones on this table,
    `margin` the lead over the next other values; `left` are the tokens that nothing accounts for, as bits."""

    table: PageTable
    reading: TableReading
    probability: float
    margin: float
    left: int
    total: int


@cache
def weights() -> Mapping[str, Mapping[str, float]]:
    """The weights of the readings, of the trust in the chosen one, and of what speaks against it on its page: fitted on
    800 questions over 192 whole pages, where tables compete, with the trust in each reading given."""
    return tomllib.loads(_WEIGHTS.read_text(encoding="utf-8"))


def choose(question: TableQuestion, table: PageTable) -> ChosenReading | None:
    """The likeliest sound reading of a question on a table; None where it has none."""
    options = readings(question, table)
    features, known = ReadingFeatures(question, table), weights()["reading"]
    scores = [sum(known.get(name, 0.0) * value for name, value in features.of(option).items()) for option in options]
    return chosen(question, table, options, scores, features)


def chosen(
    question: TableQuestion,
    table: PageTable,
    options: Sequence[TableReading],
    scores: Sequence[float],
    features: ReadingFeatures,
) -> ChosenReading | None:
    """The likeliest sound one of scored readings."""
    order = sorted(range(len(options)), key=lambda at: -scores[at])[:MOST_JUDGED]
    sound = [at for at in order if is_sound(question, table, options[at], features.uncovered(options[at]))]
    if not sound:
        return None
    best = options[sound[0]]
    shares: dict[tuple[str, ...], float] = {}
    for at in sound:
        key = _key(options[at])
        shares[key] = shares.get(key, 0.0) + math.exp(scores[at] - scores[sound[0]])
    whole, own = sum(shares.values()), shares.pop(_key(best))
    margin = own - max(shares.values(), default=0.0)
    left, total = features.uncovered(best), question.content_bits.bit_count()
    return ChosenReading(table, best, own / whole, margin / whole, left, total)


def _key(reading: TableReading) -> tuple[str, ...]:
    return tuple(sorted(map(folded, reading.values)))


# Least trust in a list that accounts for a question for all of something: the questions that the weights are fitted on
# hardly ever ask for one. Of such lists of WikiTableQuestions (train part) 52 % are right (n = 67), 63 % from a
# probability of the reading of 0.7 on (27), 83 % from 0.9 on (6).
ACCOUNTED = 0.5
# The share of the probability of its reading that a list is trusted at least with.
OF_READING = 0.8
# The share of its trust that is left to a cell if nothing of the table says what is asked for: "Town" of a bridge for
# "Who designed ...?". The questions that the weights are fitted on are asked of a table that answers them.
BESIDE = 0.5
# From this trust on a table answers, and neither one of its rows nor a sentence that lacks a name of the query does.
# A calculation always does so: a question for a total is not answered by one of its rows.
STANDS = 0.25
# Words that say no more than a column does: "made of iron" is "Material: iron", "first heard in" is "Place: ".
_LIGHT = frozenset(
    canonical(word) for word in word_set("made located situated held found live lie have belong actually first")
)

# Words that reverse a question's meaning, and that no operation reads.
_UNREAD = word_set("not no never without neither nor except didn't don't consecutive")


def trust(question: TableQuestion, pick: ChosenReading) -> float:
    """Probability that the chosen reading is right, 0 to 1."""
    known = weights()["trust"]
    odds = sum(known.get(name, 0.0) * value for name, value in trust_features(question, pick).items())
    chance = 1.0 / (1.0 + math.exp(-odds))
    if pick.reading.operation is TableOperation.LOOK_UP and _is_beside(question, pick):
        chance *= BESIDE
    if pick.reading.operation in CALCULATED:
        return max(chance, STANDS)
    listed = pick.reading.operation is TableOperation.LIST and OperationHint.PLURAL in question.hints
    return max(chance, ACCOUNTED, OF_READING * pick.probability) if listed and _accounts(question, pick) else chance


def _is_beside(question: TableQuestion, pick: ChosenReading) -> bool:
    """Whether neither the header of a cell, nor what is known of its row, nor what is said of the table speaks of
    anything that is asked for."""
    selection = pick.reading.selection
    if set(content(pick.table.header[pick.reading.column])) & question.near_asked:
        return False
    columns = {pick.reading.column, *selection.columns}
    told = " ".join((pick.table.context, *(pick.table.header[column] for column in columns)))
    asked = frozenset({*question.asked, *question.query.relation}) - BARE_KINDS
    wanted = {other for word in asked for other in alike(word)}
    return bool(wanted) and wanted.isdisjoint(content(told)) and not question.bits(asked) & selection.bits


def _accounts(question: TableQuestion, pick: ChosenReading) -> bool:
    """Whether a list accounts for what is asked for and for all but one word: "enter" where the header says "joins"."""
    reading, left = pick.reading, pick.left & ~question.bits(_LIGHT)
    if reading.column >= 0 and question.near_asked & set(content(pick.table.header[reading.column])):
        left &= ~question.bits(frozenset(question.asked))
    if not left:
        return bool(question.asked or reading.selection.conditions)
    words = [token.text for at, token in enumerate(question.tokens) if left >> at & 1]
    named = question.asked and reading.selection.conditions and not left & question.bits(frozenset(question.asked[-1:]))
    return bool(named) and len(words) == 1 and words[0].isalpha() and words[0] not in _UNREAD


def trust_features(question: TableQuestion, pick: ChosenReading) -> dict[str, float]:
    reading, named = (
        pick.reading,
        [condition.quality for condition in pick.reading.selection.conditions if not condition.quantified],
    )
    asked = question.bits(frozenset(question.asked[-1:]))
    free = [token.text for at, token in enumerate(question.tokens) if not reading.selection.bits >> at & 1]
    left = pick.left.bit_count()
    return {
        "bias": 1.0,
        "length": math.log(max(1, len(question.tokens))),
        "hints": float(len(question.hints)),
        "unread": float(not _UNREAD.isdisjoint(free)),
        "nothing left": float(not left),
        "words left, number": min(left, 4) / 4,
        "log probability": math.log(max(pick.probability, 1e-4)),
        "margin": pick.margin,
        "words left": left / max(1, pick.total),
        "asked left": float(bool(asked & pick.left)),
        "asked": float(bool(asked)),
        "least cell's share": min(named, default=0.0),
        "no condition": float(not reading.selection.conditions),
        f"{reading.operation}": 1.0,
    }
