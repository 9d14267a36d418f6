"""Weighs the readings of a question on a table: a log-linear model over named features.

The weights are fitted on questions whose answers are known, but not their readings (Pasupat and Liang, 2015), by
scripts/train/fit_table_reading.py.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from iterative_rag.builtin.language.function_words import folded
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.reading_soundness import is_sound
from iterative_rag.builtin.tables.table_model import PageTable
from iterative_rag.builtin.tables.table_operations import TableReading, readings
from iterative_rag.builtin.tables.table_question import TableQuestion

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
    """The weights of the readings and of the trust in the chosen one."""
    return tomllib.loads(_WEIGHTS.read_text(encoding="utf-8"))


def choose(question: TableQuestion, table: PageTable) -> ChosenReading | None:
    """The likeliest sound reading of a question on a table; None where it has none."""
    found = readings(question, table)
    features, known = ReadingFeatures(question, table), weights()["reading"]
    scores = [sum(known.get(name, 0.0) * value for name, value in features.of(one).items()) for one in found]
    return chosen(question, table, found, scores, features)


def chosen(
    question: TableQuestion,
    table: PageTable,
    found: Sequence[TableReading],
    scores: Sequence[float],
    features: ReadingFeatures,
) -> ChosenReading | None:
    """The likeliest sound one of scored readings."""
    order = sorted(range(len(found)), key=lambda place: -scores[place])[:MOST_JUDGED]
    sound = [at for at in order if is_sound(question, table, found[at], features.uncovered(found[at]))]
    if not sound:
        return None
    best = found[sound[0]]
    shares: dict[tuple[str, ...], float] = {}
    for at in sound:
        key = _key(found[at])
        shares[key] = shares.get(key, 0.0) + math.exp(scores[at] - scores[sound[0]])
    whole, own = sum(shares.values()), shares.pop(_key(best))
    margin = own - max(shares.values(), default=0.0)
    left, total = features.uncovered(best), question.content_bits.bit_count()
    return ChosenReading(table, best, own / whole, margin / whole, left, total)


def _key(reading: TableReading) -> tuple[str, ...]:
    return tuple(sorted(map(folded, reading.values)))
