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
from iterative_rag.builtin.language.lexicon import AnswerKind, alike, kind_of_noun
from iterative_rag.builtin.language.nouns import BARE_KINDS
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.table_operations import FEW_ROWS, TableOperation, TableReading, readings
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
    features = ReadingFeatures(question, table)
    figures = [features.of(option) for option in options]
    if any(option.rank > 1 for option in options):  # "the third tallest" is not the tallest
        kept = [at for at, own in enumerate(figures) if "rank left" not in own]
        options, figures = [options[at] for at in kept], [figures[at] for at in kept]
    if not options:
        return None
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


# Least trust in a reading by rank ("the third longest") or of all that is asked for, if it leaves no word unread: few
# questions that the weights are fitted on ask so.
ACCOUNTED = 0.5
# The share of its trust that is left to a reading if a name is not read, or if nothing of the table says what is asked
# for, as "Town" of a bridge for "Who designed ...?": no such question was fitted on.
BESIDE = 0.5


def trust(question: TableQuestion, pick: ChosenReading, figures: Mapping[str, float]) -> float:
    """Probability that the chosen reading is right, 0 to 1, by figures of it."""
    return settled(question, pick, odds_of(trust_weights(), figures))


def odds_of(weights: Mapping[str, float], figures: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in figures.items())


def settled(question: TableQuestion, pick: ChosenReading, odds: float) -> float:
    """The trust from log-odds, with what hardly a question asks for that they are fitted on."""
    chance, reading = 1.0 / (1.0 + math.exp(-odds)), pick.reading
    if "names left" in pick.features or _is_beside(question, pick) or _is_of_one_subject(question, pick):
        return BESIDE * chance
    whole = reading.operation is TableOperation.LIST and OperationHint.PLURAL in question.hints
    return max(chance, ACCOUNTED) if not pick.left and (whole or reading.rank > 1) else chance


# Words that say no more than a column does: "made of iron" is "Material: iron", "first heard in" is "Place: ".
_LIGHT = frozenset(
    canonical(word) for word in word_set("made located situated held found live lie have belong actually first")
)


_NOBODY = frozenset({AnswerKind.PLACE, AnswerKind.DATE, AnswerKind.YEAR})
# What was done to a work in the year that stands beside it.
_WORKS = frozenset(
    canonical(word) for word in word_set("appear come compose make produce publish record release write win")
)


def _is_beside(question: TableQuestion, pick: ChosenReading) -> bool:
    """Whether neither the headers of a reading's columns, nor its rows' conditions, nor what is said of the table speak
    of anything that is asked for. Where a relation is asked for, too, a word near to the noun does not tell of it: the
    tributary that joins a river in a town is not the river that flows through it."""
    reading, header = pick.reading, pick.table.header
    columns = {reading.column, reading.measure, *reading.selection.columns} - {-1}
    own = header[reading.column] if reading.column >= 0 else ""
    # Nobody is a place or a time, whatever is said of the column: "Assassin" for "Where was he shot?".
    if question.kind in _NOBODY and kind_of_noun(own) is AnswerKind.PERSON:
        return True
    told = content(" ".join((pick.table.context, *(header[column] for column in columns))))
    asked = frozenset({*question.asked, *question.query.relation}) - BARE_KINDS
    relation = asked.difference(question.asked, _LIGHT)
    if asked <= _WORKS and folded(own) == "year":
        return False
    if relation and question.content_bits & question.bits(frozenset(question.asked)):
        near = {other for word in asked - relation for other in alike(word)}
        wanted = near | relation | {f"{word}er" for word in relation}
    else:
        wanted = {other for word in asked for other in alike(word)} | (frozenset() if relation else question.near_asked)
        wanted |= {said for said in told if not asked.isdisjoint(alike(said))}
    return bool(asked) and wanted.isdisjoint(told) and not question.bits(asked) & reading.selection.bits


def _is_of_one_subject(question: TableQuestion, pick: ChosenReading) -> bool:
    """Whether rows are counted or ranked that are those of one subject, of which the question says nothing: the tallest
    building of Boston is not "the tallest building"."""
    title = question.bits(frozenset(content(pick.table.title)))
    return not title and pick.reading.operation not in FEW_ROWS and not question.query.names


# Words that reverse a question's meaning, and that no operation reads.
_UNREAD = word_set("not no never without neither nor except didn't don't consecutive average mean")
# The features of a reading that tell how far it is to be trusted.
_TELLING = (
    *("nothing left", "words left", "words left, number", "names left", "years left", "bounds left", "rank left"),
    *("least cell's share", "whole cells", "single row", "0 conditions", "1 conditions"),
    *("asked in header", "near asked in header", "asked elsewhere", "share of asked", "alike header", "no header"),
    *("header of asked kind", "header of another kind", "answer in condition's column", "answer in question"),
    *(
        "measure of scores",
        "measure in header",
        "measure named",
        "measure named elsewhere",
        "alike measure",
        "long answer",
    ),
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
