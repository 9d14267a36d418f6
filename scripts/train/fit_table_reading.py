"""Fit how the readings of a question on a table are weighed: reading_network.npz and reading_weights.toml.

    python -m scripts.train.fit_table_reading --data FOLDER

The questions are those of WikiTableQuestions. First the readings: a network of one hidden layer, so that the readings
with the right values have most of the probability together; pages that are stored whole teach it nothing. Then the
trust in the likeliest reading of each table: a logistic regression over a few figures of it, on the whole pages that
are not set aside (scripts/train/table_questions.py), where all tables but one are wrong.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.tables import reading_choice
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_choice import ACCOUNTED, ChosenReading, odds_of, question_words, settled
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.table_answers import picks_of
from iterative_rag.builtin.tables.table_operations import TableReading, readings
from iterative_rag.builtin.tables.table_question import TableQuestion, read_table_question
from scripts.train.evidence.aside import TRAIN
from scripts.train.scoring import logistic
from scripts.train.table_questions import is_right, items, page_items

SEEDS, EPOCHS, BATCH, RATE, DECAY, DROPPED = (1, 2), 8, 24, 0.004, 1e-3, 0.4
# Units of the hidden layer; words are read that so many questions have; a question teaches by so many readings at most.
HIDDEN, LEAST_ASKED, MOST_READINGS = 48, 12, 200
# The trust is shifted so that from 0.5 on so many answers are wrong at most, on pages whose trust was weighed without
# them.
WRONG, FOLDS, RIDGE = 0.3, 5, 2.0
HERE = Path(reading_choice.__file__).parent
Floats: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A question with the features of some of its readings, a row each, and which of them are right."""

    said: list[str]
    features: sparse.csr_matrix
    right: npt.NDArray[np.bool_]


class Gathered:
    """The readings of the questions, and the columns of their features in the order in which they come up."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.rows: list[Weighed] = []
        self._chance = random.Random(SEEDS[0])

    def add(self, asks: str, answers: Sequence[str], table: PageTable) -> None:
        question = read_table_question(read_query(asks))
        right: list[TableReading] = []
        wrong: list[TableReading] = []
        for option in readings(question, table):
            (right if is_right(option.values, answers) else wrong).append(option)
        if not right:
            return
        right = right[: MOST_READINGS // 2]
        kept = [*right, *self._chance.sample(wrong, min(len(wrong), MOST_READINGS - len(right)))]
        features = ReadingFeatures(question, table)
        figures = [features.of(option) for option in kept]
        for name in (name for row in figures for name in row):
            self.columns.setdefault(name, len(self.columns))
        words = question_words([token.text for token in question.tokens])
        self.rows.append(Weighed(words, matrix(figures, self.columns), np.arange(len(kept)) < len(right)))


class Fit:
    """The network while it is fitted, by Adam on the marginal likelihood of the right readings."""

    def __init__(self, gathered: Gathered, seed: int) -> None:
        asked = Counter(word for row in gathered.rows for word in row.said)
        self.features = gathered.columns
        self.words = {word: at for at, word in enumerate(sorted(w for w, n in asked.items() if n >= LEAST_ASKED))}
        self._rows, self._chance = gathered.rows, (chance := np.random.default_rng(seed))
        for row in self._rows:
            row.features.resize((len(row.right), len(self.features)))
        self.weights: dict[str, Floats] = {
            "hidden": chance.normal(0, 0.1, (len(self.features), HIDDEN)).astype(np.float32),
            "question": chance.normal(0, 0.05, (len(self.words), HIDDEN)).astype(np.float32),
            "bias": np.zeros(HIDDEN, np.float32),
            "out": chance.normal(0, 0.1, HIDDEN).astype(np.float32),
            "linear": np.zeros(len(self.features), np.float32),
        }
        self._first = {name: np.zeros_like(value) for name, value in self.weights.items()}
        self._second = {name: np.zeros_like(value) for name, value in self.weights.items()}

    def run(self) -> None:
        steps, step = EPOCHS * len(self._rows) // BATCH + 1, 0
        for _ in range(EPOCHS):
            order = self._chance.permutation(len(self._rows))
            for at in range(0, len(order), BATCH):
                step += 1
                rate = RATE * min(1, step / 100) * (1 - step / (steps + EPOCHS)) ** 0.7
                slopes = self._slopes([self._rows[place] for place in order[at : at + BATCH]])
                for name, held in self.weights.items():
                    self._first[name] += 0.1 * (slopes[name] - self._first[name])
                    self._second[name] += 0.001 * (slopes[name] ** 2 - self._second[name])
                    size = np.sqrt(self._second[name] / (1 - 0.999**step)) + 1e-7
                    held -= rate * (self._first[name] / (1 - 0.9**step) / size + DECAY * held)

    def _slopes(self, rows: Sequence[Weighed]) -> dict[str, Floats]:
        kept = [[word for word in row.said if self._chance.random() >= DROPPED] for row in rows]
        shares = [dict.fromkeys(said, 1 / max(1, sum(word in self.words for word in said)) ** 0.5) for said in kept]
        words, given = matrix(shares, self.words), sparse.vstack([row.features for row in rows], format="csr")
        sizes = [len(row.right) for row in rows]
        own, starts = np.repeat(np.arange(len(rows)), sizes), np.cumsum([0, *sizes[:-1]])
        right, weights = np.concatenate([row.right for row in rows]), self.weights
        drive = given @ weights["hidden"] + (words @ weights["question"])[own] + weights["bias"]
        mask = (self._chance.random(drive.shape, dtype=np.float32) >= 0.1) / np.float32(0.9)
        hidden = np.maximum(drive, 0) * mask
        scores = hidden @ weights["out"] + given @ weights["linear"]
        share = np.exp(scores - np.maximum.reduceat(scores, starts)[own])
        share /= np.add.reduceat(share, starts)[own]
        wanted = share * right
        slope = ((share - wanted / np.add.reduceat(wanted, starts)[own]) / len(rows)).astype(np.float32)
        back = np.outer(slope, weights["out"]) * mask * (drive > 0)
        return {
            "hidden": given.T @ back,
            "question": words.T @ np.add.reduceat(back, starts, axis=0),
            "bias": back.sum(axis=0),
            "out": hidden.T @ slope,
            "linear": given.T @ slope,
        }


def together(fits: Sequence[Fit]) -> dict[str, Floats]:
    """The mean of networks as one: their hidden layers side by side."""
    weights = [fit.weights for fit in fits]
    beside = {name: np.concatenate([own[name] for own in weights], axis=-1) for name in ("hidden", "question", "bias")}
    out = np.concatenate([own["out"] for own in weights]) / len(fits)
    return beside | {"out": out, "linear": np.mean([own["linear"] for own in weights], axis=0)}


def matrix(rows: Sequence[dict[str, float]], columns: dict[str, int]) -> sparse.csr_matrix:
    known = [[(columns[name], value) for name, value in row.items() if name in columns] for row in rows]
    ends = np.cumsum([0, *map(len, known)])
    places = np.array([place for row in known for place, _ in row], np.int32)
    values = np.array([value for row in known for _, value in row], np.float32)
    return sparse.csr_matrix((values, places, ends), shape=(len(rows), len(columns)))


# --- the trust in the likeliest reading -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """The likeliest reading of a table of a page, its figures, and whether it is right and of the table meant."""

    page: str
    asked: TableQuestion
    pick: ChosenReading
    figures: Mapping[str, float]
    right: bool


def judged(folder: Path) -> list[Judged]:
    return [
        Judged(
            item.title,
            question,
            pick,
            figures,
            pick.table is item.meant and is_right(pick.reading.values, item.answers),
        )
        for item in page_items(folder, TRAIN)
        for question in [read_table_question(read_query(item.question))]
        for pick, figures in picks_of(question, item.tables)
    ]


def fitted(rows: Sequence[Judged]) -> dict[str, float]:
    names = ["bias", *sorted({name for row in rows for name in row.figures} - {"bias"})]
    given = np.array([[row.figures.get(name, 0.0) for name in names] for row in rows])
    weights = logistic(given, np.array([row.right for row in rows], float), ridge=RIDGE / len(rows))
    return dict(zip(names, weights.tolist(), strict=True))


def given_from(rows: Sequence[Judged]) -> tuple[float, str]:
    """The log-odds from which on at most WRONG of the answers are wrong, each page weighed by weights that were fitted
    on others; and what that comes to."""
    odds: dict[tuple[str, str], list[tuple[float, Judged]]] = {}
    pages = sorted({row.page for row in rows})
    for fold in range(FOLDS):
        own = set(pages[fold::FOLDS])
        known = fitted([row for row in rows if row.page not in own])
        for row in (row for row in rows if row.page in own):
            odds.setdefault((row.page, row.asked.text), []).append((odds_of(known, row.figures), row))
    best = -1.5, "nothing"
    for shift in np.arange(-1.5, 1.5, 0.1).tolist():
        chosen = [
            max((settled(row.asked, row.pick, odd + shift), row.right) for odd, row in own) for own in odds.values()
        ]
        answered = [right for trusted, right in chosen if trusted >= ACCOUNTED]
        if answered.count(False) > WRONG * len(answered):
            break
        best = shift, f"{len(answered)} of {len(odds)} answered, {sum(answered)} right"
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with tables/, wikipages/ and the other data")
    data = parser.parse_args().data
    gathered = Gathered()
    for item in items(data):
        gathered.add(*item)
    fits = [Fit(gathered, seed) for seed in SEEDS]
    for fit in fits:
        fit.run()
    held: dict[str, Any] = {name: value.astype(np.float16) for name, value in together(fits).items()}
    names = {"features": np.array(list(fits[0].features)), "words": np.array(list(fits[0].words))}
    np.savez_compressed(HERE / "reading_network.npz", **(held | names))
    rows = judged(data)
    trust, (shift, told) = fitted(rows), given_from(rows)
    trust["bias"] += shift
    print(f"{len(fits[0].words)} words, {len(fits[0].features)} features; shifted by {shift:.1f}: {told}")
    lines = [f'"{name}" = {value:.3f}' for name, value in sorted(trust.items())]
    text = "\n".join(["# Fitted by scripts/train/fit_table_reading.py; do not edit.", "", "[trust]", *lines, ""])
    (HERE / "reading_weights.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
