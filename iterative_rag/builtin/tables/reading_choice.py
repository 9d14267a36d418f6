"""Weighs the readings of a question on a table by a small network over named features and the words of the question,
and says how far the likeliest one is to be trusted.

The weights are fitted on questions whose answers are known, but not their readings (Pasupat and Liang, 2015), by
scripts/train/fit_table_reading.py."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.builtin.language.function_words import content, folded, word_set
from iterative_rag.builtin.language.lexicon import alike
from iterative_rag.builtin.language.nouns import BARE_KINDS
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.table_operations import CALCULATED, FEW_ROWS, TableOperation, TableReading, readings
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion, canonical

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_WEIGHTS = Path(__file__).parent / "reading_weights.toml"
_NETWORK = Path(__file__).parent / "reading_network.npz"


@dataclass(frozen=True, slots=True)
class ChosenReading:
    """The reading whose values are likeliest. `probability` is that of the values among the others of this table,
    `margin` the lead over the next ones, `score` what the network gives the reading with these `features`; `left` are
    the tokens that nothing accounts for, as bits."""

    table: PageTable
    reading: TableReading
    probability: float
    margin: float
    score: float
    features: Mapping[str, float]
    left: int


@dataclass(frozen=True, slots=True)
class ReadingNetwork:
    """One hidden layer over the features of a reading and the words and pairs of words of the question, beside a linear
    model over the features. `features` and `words` say which row of the weights is whose."""

    features: Mapping[str, int]
    words: Mapping[str, int]
    weights: Mapping[str, npt.NDArray[np.float32]]

    def scores(self, question: Sequence[str], options: Iterable[Mapping[str, float]]) -> npt.NDArray[np.float32]:
        """The score of each reading of a question, by its features."""
        import numpy as np

        said = [self.words[word] for word in question_words(question) if word in self.words]
        asked = self.weights["question"][said].sum(axis=0) / math.sqrt(max(1, len(said))) + self.weights["bias"]
        known = [
            [(self.features[name], value) for name, value in option.items() if name in self.features]
            for option in options
        ]
        scores = np.zeros(len(known), np.float32)
        for at, pairs in enumerate(known):
            places, values = [place for place, _ in pairs], np.array([value for _, value in pairs], np.float32)
            hidden = np.maximum(values @ self.weights["hidden"][places] + asked, 0)
            scores[at] = hidden @ self.weights["out"] + values @ self.weights["linear"][places]
        return scores


def question_words(words: Sequence[str]) -> list[str]:
    """The words of a question and its pairs of words, with those that it begins with marked."""
    pairs = [f"{word} {after}" for word, after in itertools.pairwise(words)]
    return [*dict.fromkeys((*words, *pairs)), f"^{words[0]}", f"^{' '.join(words[:2])}"] if words else []


@cache
def network() -> ReadingNetwork:
    import numpy as np

    with np.load(_NETWORK, allow_pickle=False) as held:
        weights = {name: held[name].astype(np.float32) for name in ("question", "bias", "hidden", "out", "linear")}
        features, words = ({str(name): at for at, name in enumerate(held[key])} for key in ("features", "words"))
    return ReadingNetwork(features, words, weights)


@cache
def trust_weights() -> Mapping[str, float]:
    """The weights of the trust in a chosen reading: fitted on whole pages, where tables compete."""
    weights: Mapping[str, float] = tomllib.loads(_WEIGHTS.read_text(encoding="utf-8"))["trust"]
    return weights


def choose(question: TableQuestion, table: PageTable) -> ChosenReading | None:
    """The likeliest reading of a question on a table; None where it has none. Of a table that may lack rows nothing is
    read that needs all of them."""
    import numpy as np

    options = [option for option in readings(question, table) if table.complete or option.operation in FEW_ROWS]
    if not options:
        return None
    features = ReadingFeatures(question, table)
    figures = [features.of(option) for option in options]
    scores = network().scores([token.text for token in question.tokens], figures)
    shares: dict[tuple[str, ...], float] = {}
    for option, share in zip(options, np.exp(scores - scores.max()).tolist(), strict=True):
        shares[_key(option)] = shares.get(_key(option), 0.0) + share
    ranked = sorted(shares, key=lambda key: -shares[key])
    at = max((at for at, option in enumerate(options) if _key(option) == ranked[0]), key=lambda at: scores[at])
    whole, second = sum(shares.values()), shares[ranked[1]] if len(ranked) > 1 else 0.0
    own, left = shares[ranked[0]] / whole, features.uncovered(options[at])
    return ChosenReading(table, options[at], own, own - second / whole, float(scores[at]), figures[at], left)


def _key(reading: TableReading) -> tuple[str, ...]:
    return tuple(sorted(map(folded, reading.values)))


# Least trust in a list that accounts for a question for all of something: the questions that the weights are fitted on
# hardly ever ask for one. Of such lists of WikiTableQuestions (train part) 52 % are right (n = 67), 63 % from a
# probability of the reading of 0.7 on (27), 83 % from 0.9 on (6). Of superlatives that leave nothing of the question
# unread 14 of 20 are right, and few that name a rank are among what the weights are fitted on.
ACCOUNTED = 0.5
_EXTREMES = frozenset({TableOperation.GREATEST, TableOperation.SMALLEST})
# The share of the probability of its reading that a list is trusted at least with.
OF_READING = 0.8
# The share of its trust that is left to a reading if nothing of the table says what is asked for, as "Town" of a bridge
# for "Who designed ...?", if another column is, or if a rank or name is not read: no such question was fitted on.
BESIDE = 0.5
_AMISS = ("rank left", "names left", "asked elsewhere")
# From this trust on a table answers, and neither one of its rows nor a sentence that lacks a name of the query does.
# A calculation always does so: a question for a total is not answered by one of its rows.
STANDS = 0.25
# Words that say no more than a column does: "made of iron" is "Material: iron", "first heard in" is "Place: ".
_LIGHT = frozenset(
    canonical(word) for word in word_set("made located situated held found live lie have belong actually first")
)

# Words that reverse a question's meaning, and that no operation reads.
_UNREAD = word_set("not no never without neither nor except didn't don't consecutive")


def trust(question: TableQuestion, pick: ChosenReading, figures: Mapping[str, float]) -> float:
    """Probability that the chosen reading is right, 0 to 1, by figures of it."""
    known = trust_weights()
    odds = sum(known.get(name, 0.0) * value for name, value in figures.items())
    chance = 1.0 / (1.0 + math.exp(-odds))
    if _is_beside(question, pick) or not pick.features.keys().isdisjoint(_AMISS):
        chance *= BESIDE
    elif pick.reading.operation is TableOperation.LIST and OperationHint.PLURAL in question.hints:
        chance = max(chance, ACCOUNTED, OF_READING * pick.probability) if _accounts(question, pick) else chance
    elif not pick.left and (pick.reading.rank > 1 or pick.reading.operation in _EXTREMES):
        chance = max(chance, ACCOUNTED)
    return max(chance, STANDS) if pick.reading.operation in CALCULATED else chance


def _is_beside(question: TableQuestion, pick: ChosenReading) -> bool:
    """Whether neither the headers of a reading's columns, nor its rows' conditions, nor what is said of the table speak
    of anything that is asked for. Where a relation is asked for, too, a word near to the noun does not tell of it: the
    tributary that joins a river in a town is not the river that flows through it."""
    reading, header = pick.reading, pick.table.header
    columns = {reading.column, reading.measure, *reading.selection.columns} - {-1}
    told = content(" ".join((pick.table.context, *(header[column] for column in columns))))
    asked = frozenset({*question.asked, *question.query.relation}) - BARE_KINDS
    relation = asked.difference(question.asked, _LIGHT)
    wanted = (
        {other for word in asked - relation for other in alike(word)} | relation | {f"{word}er" for word in relation}
    )
    if not relation:
        wanted |= question.near_asked
    return bool(asked) and wanted.isdisjoint(told) and not question.bits(asked) & reading.selection.bits


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


# The features of a reading that tell how far it is to be trusted.
_TELLING = (
    *("nothing left", "words left", "words left, number", "names left", "years left", "bounds left", "rank left"),
    *("least cell's share", "whole cells", "single row", "0 conditions", "1 conditions"),
    *("asked in header", "near asked in header", "asked elsewhere", "share of asked", "alike header", "no header"),
    *("header of asked kind", "header of another kind", "answer in condition's column", "answer in question"),
    *("measure in header", "measure named", "measure named elsewhere", "alike measure", "long answer"),
    *("several asked", "several, one asked", "one, several asked", "no word or number"),
)


def trust_features(question: TableQuestion, pick: ChosenReading) -> dict[str, float]:
    reading, features = pick.reading, pick.features
    free = [token.text for at, token in enumerate(question.tokens) if not reading.selection.bits >> at & 1]
    wanted = (*_TELLING, f"{reading.operation}, asked left", f"no {question.kind}", f"{question.kind} in words")
    return {
        "bias": 1.0,
        "length": math.log(max(1, len(question.tokens))),
        "hints": float(len(question.hints)),
        "unread": float(not _UNREAD.isdisjoint(free)),
        "log probability": math.log(max(pick.probability, 1e-4)),
        "margin": pick.margin,
        "score": pick.score / 10,
        f"{reading.operation}": 1.0,
        **{name: features[name] for name in wanted if name in features},
    }
