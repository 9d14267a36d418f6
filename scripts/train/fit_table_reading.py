"""Fit how the readings of a question on a table are weighed: builtin/tables/reading_weights.toml.

    python -m scripts.train.fit_table_reading --data FOLDER [--starter FOLDER] [--most N]

The questions are those of WikiTableQuestions on tables of the train part (scripts/train/evidence/aside.py); one table
in five of them chooses nothing and is only reported on. First the readings: a log-linear model, so that the readings
with the right values have most of the probability together. Then the trust in the likeliest reading: a logistic
regression over a few figures of it, on the own table of a question and on another one, where nothing is right.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.tables import reading_choice
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.reading_choice import ChosenReading, chosen, trust_features
from iterative_rag.builtin.tables.reading_features import ReadingFeatures
from iterative_rag.builtin.tables.table_answers import names_known
from iterative_rag.builtin.tables.table_operations import readings
from iterative_rag.builtin.tables.table_question import TableQuestion, read_table_question
from scripts.train.table_questions import TableItem, items

SEED, EPOCHS, RATE, RIDGE = 7, 6, 0.3, 3e-4
# Weights nearer to 0 are left out; one table in so many only reports.
LEAST, FOLDS = 0.02, 5
OUT = reading_choice.__file__.replace("reading_choice.py", "reading_weights.toml")
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weighed:
    """The readings of an item: `places` and `values` of their features one after another, `starts` where each begins,
    and which of them are right."""

    item: TableItem
    places: npt.NDArray[np.int64]
    values: Floats
    starts: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]

    def scores(self, weights: Floats) -> Floats:
        return np.add.reduceat(weights[self.places] * self.values, self.starts)


def weighed(item: TableItem, names: dict[str, int]) -> Weighed | None:
    question = read_table_question(read_query(item.question))
    found = readings(question, item.table)
    if not found:
        return None
    features = ReadingFeatures(question, item.table)
    places: list[int] = []
    values: list[float] = []
    starts: list[int] = []
    for one in found:
        starts.append(len(places))
        for name, value in features.of(one).items():
            places.append(names.setdefault(name, len(names)))
            values.append(value)
    right = np.array([item.is_right(one.values) for one in found])
    return Weighed(item, np.array(places), np.array(values), np.array(starts), right)


def reports(table: PageTable) -> bool:
    """Whether a table only reports how good the weights are."""
    return hashlib.sha256(table.context.encode()).digest()[0] % FOLDS == 0


def fitted(rows: Sequence[Weighed], size: int) -> Floats:
    """Weights by AdaGrad on the marginal likelihood of the right readings."""
    chance = random.Random(SEED)
    weights, squares = np.zeros(size), np.full(size, 1e-2)
    usable = [row for row in rows if row.right.any()]
    for _ in range(EPOCHS):
        for row in chance.sample(usable, len(usable)):
            scores = row.scores(weights)
            share = np.exp(scores - scores.max())
            share /= share.sum()
            wanted = share * row.right
            change = wanted / wanted.sum() - share
            counts = np.diff(np.append(row.starts, len(row.places)))
            slope = np.bincount(row.places, np.repeat(change, counts) * row.values, size) - RIDGE * weights
            moved = slope != 0
            squares[moved] += slope[moved] ** 2
            weights[moved] += RATE * slope[moved] / np.sqrt(squares[moved])
    return weights


def report(rows: Sequence[Weighed], weights: Floats, asked: int) -> None:
    hits = [bool(row.right[row.scores(weights).argmax()]) for row in rows]
    reach = sum(bool(row.right.any()) for row in rows)
    print(f"{asked} questions, a right reading for {reach / asked:.3f}, chosen {sum(hits) / asked:.3f}")


# --- the trust in the likeliest reading -----------------------------------------------------------


def judged(asked: Sequence[TableItem], weights: Mapping[str, float]) -> Iterator[tuple[dict[str, float], bool]]:
    """The figures of the chosen reading on the own table and on another, and whether it is right.

    Only of tables that have the names of the question: the others are not asked.
    """
    chance = random.Random(SEED)
    tables = list({id(item.table): item.table for item in asked}.values())
    for item in asked:
        query = read_query(item.question)
        question = read_table_question(query)
        for table in (item.table, chance.choice(tables)):
            pick = picked(question, table, weights) if names_known(query, table) else None
            if pick is not None:
                own = table is item.table and item.is_right(pick.reading.values)
                yield trust_features(question, pick), own


def picked(question: TableQuestion, table: PageTable, weights: Mapping[str, float]) -> ChosenReading | None:
    found = readings(question, table)
    features = ReadingFeatures(question, table)
    scores = [sum(weights.get(name, 0.0) * value for name, value in features.of(one).items()) for one in found]
    return chosen(question, table, found, scores, features)


def logistic(rows: Sequence[tuple[dict[str, float], bool]]) -> dict[str, float]:
    names = sorted({name for features, _ in rows for name in features})
    matrix = np.array([[features.get(name, 0.0) for name in names] for features, _ in rows])
    right = np.array([own for _, own in rows], float)
    weights = np.zeros(len(names))
    for _ in range(30):  # Newton's method
        chance = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (right - chance) - weights
        curve = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + np.eye(len(names))
        weights += np.linalg.solve(curve, slope)
    return dict(zip(names, weights.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with tables/ and the other data")
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"), help="folder of the starter corpus")
    parser.add_argument("--most", type=int, default=100_000, help="questions to fit on")
    parser.add_argument("--trust-only", action="store_true", help="keep the weights of the readings")
    parser.add_argument("--out", type=Path, default=Path(OUT))
    arguments = parser.parse_args()
    asked = list(items(arguments.data, arguments.starter, "train"))
    asked = random.Random(SEED).sample(asked, min(arguments.most, len(asked)))
    known: Mapping[str, float] = reading_choice.weights()["reading"] if arguments.trust_only else read(asked)
    # The trust is fitted on tables that the weights have not seen.
    judgements = list(judged([item for item in asked if reports(item.table)], known))
    trust = {name: round(value, 3) for name, value in logistic(judgements).items()}
    write(arguments.out, known, trust)


def read(asked: Sequence[TableItem]) -> dict[str, float]:
    """The weights of the readings."""
    names: dict[str, int] = {}
    rows = [row for item in asked if (row := weighed(item, names))]
    fit, kept = [row for row in rows if not reports(row.item.table)], [row for row in rows if reports(row.item.table)]
    weights = fitted(fit, len(names))
    report(fit, weights, len(fit))
    report(kept, weights, len(kept))
    return {name: round(float(weights[place]), 3) for name, place in names.items() if abs(weights[place]) >= LEAST}


def write(path: Path, reading: Mapping[str, float], trust: dict[str, float]) -> None:
    lines = ["# Fitted by scripts/train/fit_table_reading.py; do not edit.", ""]
    for name, known in (("page", reading_choice.weights()["page"]), ("trust", trust), ("reading", reading)):
        lines += [f"[{name}]", *(f'"{key}" = {value}' for key, value in sorted(known.items())), ""]
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
