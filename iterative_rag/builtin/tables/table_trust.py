"""How far the likeliest reading of a question on a table is to be trusted."""

from __future__ import annotations

import math

from iterative_rag.builtin.language.function_words import stem, word_set
from iterative_rag.builtin.tables.reading_choice import ChosenReading, weights
from iterative_rag.builtin.tables.reading_soundness import CALCULATED
from iterative_rag.builtin.tables.table_operations import TableOperation
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion

# Least trust in a list that accounts for every word of a question for all of something: the questions that the weights
# are fitted on hardly ever ask for one.
ACCOUNTED = 0.5
# From this trust on a table answers, and neither one of its rows nor a sentence that lacks a name of the query does.
# A calculation always does so: whoever asks for a total is not answered by one of its rows.
STANDS = 0.25
# Verbs that say no more than a column does: "made of iron" is "Material: iron".
_LIGHT = frozenset(stem(verb) for verb in word_set("made located situated held found live lie have belong"))

# Words that turn a question round, and that no operation reads.
_UNREAD = word_set("not no never without neither nor except didn't don't consecutive")


def trust(question: TableQuestion, pick: ChosenReading) -> float:
    """Probability that the chosen reading is right, 0 to 1."""
    known = weights()["trust"]
    odds = sum(known.get(name, 0.0) * value for name, value in trust_features(question, pick).items())
    chance = 1.0 / (1.0 + math.exp(-odds))
    if pick.reading.operation in CALCULATED:
        return max(chance, STANDS)
    listed = pick.reading.operation is TableOperation.LIST and OperationHint.PLURAL in question.hints
    left = pick.left & ~question.bits(_LIGHT)
    return max(chance, ACCOUNTED) if listed and question.asked and not left else chance


def trust_features(question: TableQuestion, pick: ChosenReading) -> dict[str, float]:
    reading, named = pick.reading, [one.quality for one in pick.reading.selection.conditions if not one.quantified]
    asked = question.bits(frozenset(question.asked[-1:]))
    free = [token.text for place, token in enumerate(question.tokens) if not reading.selection.bits >> place & 1]
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
