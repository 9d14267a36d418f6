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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.tables import reading_choice
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_choice import question_words
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.table_answers import picks_of
from iterative_rag.builtin.tables.table_operations import readings
from iterative_rag.builtin.tables.table_question import read_table_question
from scripts.train.evidence.aside import TRAIN
from scripts.train.scoring import logistic
from scripts.train.table_questions import is_right, items, page_items

SEED, EPOCHS, BATCH, RATE, DECAY, DROPPED = 1, 8, 24, 0.004, 1e-3, 0.4
# Units of the hidden layer; words are read that so many questions have; a question teaches by so many readings at most.
HIDDEN, LEAST_ASKED, MOST_READINGS = 48, 12, 200
# Added to the log-odds of the trust, so that 0.5 is the least from which on at most three answers in ten are wrong.
GIVEN = 0.5
HERE = Path(reading_choice.__file__).parent
Floats: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A question with the features of some of its readings, and which of them are right."""

    said: list[str]
    features: list[dict[str, float]]
    right: npt.NDArray[np.bool_]


def weighed(asks: str, answers: Sequence[str], table: PageTable, chance: random.Random) -> Weighed | None:
    question = read_table_question(read_query(asks))
    options = readings(question, table)
    right = [option for option in options if is_right(option.values, answers)][: MOST_READINGS // 2]
    wrong = [option for option in options if not is_right(option.values, answers)]
    if not right:
        return None
    kept = [*right, *chance.sample(wrong, min(len(wrong), MOST_READINGS - len(right)))]
    features = ReadingFeatures(question, table)
    words = question_words([token.text for token in question.tokens])
    return Weighed(words, [features.of(option) for option in kept], np.arange(len(kept)) < len(right))


class Fit:
    """The network while it is fitted, by Adam on the marginal likelihood of the right readings."""

    def __init__(self, rows: Sequence[Weighed]) -> None:
        asked = Counter(word for row in rows for word in row.said)
        self.features = {name: at for at, name in enumerate(sorted({n for r in rows for f in r.features for n in f}))}
        self.words = {word: at for at, word in enumerate(sorted(w for w, n in asked.items() if n >= LEAST_ASKED))}
        self._rows, self._chance = rows, (chance := np.random.default_rng(SEED))
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
        words, given = matrix(shares, self.words), matrix([f for row in rows for f in row.features], self.features)
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


def matrix(rows: Sequence[dict[str, float]], columns: dict[str, int]) -> sparse.csr_matrix:
    known = [[(columns[name], value) for name, value in row.items() if name in columns] for row in rows]
    ends = np.cumsum([0, *map(len, known)])
    places = np.array([place for row in known for place, _ in row], np.int32)
    values = np.array([value for row in known for _, value in row], np.float32)
    return sparse.csr_matrix((values, places, ends), shape=(len(rows), len(columns)))


# --- the trust in the likeliest reading -----------------------------------------------------------


def judged(folder: Path) -> Iterator[tuple[dict[str, float], bool]]:
    """The figures of the likeliest reading of each table of a page, and whether it is right and of the table meant."""
    for item in page_items(folder, TRAIN):
        question = read_table_question(read_query(item.question))
        for pick, figures in picks_of(question, item.tables):
            yield dict(figures), pick.table is item.meant and is_right(pick.reading.values, item.answers)


def fitted(rows: Sequence[tuple[dict[str, float], bool]]) -> dict[str, float]:
    names = ["bias", *sorted({name for features, _ in rows for name in features} - {"bias"})]
    given = np.array([[features.get(name, 0.0) for name in names] for features, _ in rows])
    weights = logistic(given, np.array([right for _, right in rows], float), ridge=0.5 / len(rows))
    return dict(zip(names, [weights[0] + GIVEN, *weights[1:].tolist()], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with tables/, wikipages/ and the other data")
    data = parser.parse_args().data
    chance = random.Random(SEED)
    fit = Fit([row for item in items(data) if (row := weighed(*item, chance))])
    fit.run()
    held: dict[str, Any] = {name: value.astype(np.float16) for name, value in fit.weights.items()}
    names = {"features": np.array(list(fit.features)), "words": np.array(list(fit.words))}
    np.savez_compressed(HERE / "reading_network.npz", **(held | names))
    trust = fitted(list(judged(data)))
    lines = [f'"{name}" = {value:.3f}' for name, value in sorted(trust.items())]
    told = "\n".join(["# Fitted by scripts/train/fit_table_reading.py; do not edit.", "", "[trust]", *lines, ""])
    (HERE / "reading_weights.toml").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
