"""Fit how the trained reader and the rules vote on a value: the WEIGHTS of builtin/reading/reader_fusion.py.

    python -m scripts.train.fit_weighing --data FOLDER [--rows FILE]

Needs with known answers are searched by BM25 and the best pages are read with both readers; every value that either
offers becomes a row: its features, and whether it is the answer. The needs are one-hop questions of half B of
2WikiMultihopQA and MuSiQue (the first of each question among the other file's articles, too, where nothing answers),
held-out reading questions, and what the infoboxes of the starter articles say, asked of their prose. Printed are
cross-validated figures (five folds by need), then the weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.page_units import page
from iterative_rag.builtin.reading.reader_fusion import features_of
from iterative_rag.builtin.reading.rule_reader import RuleReader
from iterative_rag.builtin.reading.span_reader import SpanReader
from iterative_rag.builtin.reading.trained_reader import TrainedReader
from iterative_rag.types import Window
from scripts.train import data, relations, scoring
from scripts.train.data import Passage
from scripts.train.negatives import BM25

PAGES, FOLDS, RIGHT = 8, 5, 0.6
READING, ARTICLE_NEEDS = 400, 200  # needs of two sources
RIDGE = 1e-5
ROOT = Path(__file__).resolve().parents[2]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Item:
    need: str
    answers: tuple[str, ...]
    source: str
    pages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One value offered for an item: its features by name, and F1 against the answers."""

    item: int
    value: str
    features: dict[str, float]
    f1: float


def items(folder: Path, articles: Path, seed: int) -> Iterator[Item]:
    files = {name: list(data.multi_hop(folder, name)) for name in ("2wiki_train", "musique_train")}
    pools = {name: _pool(p.passage for row in rows for p in row.paragraphs) for name, rows in files.items()}
    for name, rows in files.items():
        absent = next(pool for other, pool in pools.items() if other != name)
        for row in rows:
            if data.half(row.id) == "A":
                continue
            for number, question in enumerate((*relations.triple_questions(row), *relations.hop_questions(row))):
                yield _item(question.needs[0], question.answers, name, pools[name])
                if number == 0:
                    # Among articles of another file nothing answers, however alike the names are.
                    yield _item(question.needs[0], (), "absent", absent)
    _, measured = data.reading(folder)
    read = _pool(question.gold[0].passage for question in measured)
    for question in random.Random(seed).sample(measured, min(READING, len(measured))):
        if question.answers:
            yield _item(question.needs[0], question.answers, f"reading:{question.source}", read)
    yield from _article_items(articles, random.Random(seed))


def _article_items(folder: Path, chance: random.Random) -> Iterator[Item]:
    """What the infoboxes of the starter articles say, asked of the articles' prose."""
    needs: list[tuple[str, str]] = []
    pool: list[Passage] = []
    for path in sorted(folder.glob("*.md")):
        title, _, text = path.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
        rows = [cells for line in text.split("\n") if len(cells := line.strip(" |").split(" | ")) == 2]
        needs += [(f"What is the {label[0].lower()}{label[1:]} of {title}?", value) for label, value in rows]
        pool.append(Passage(title, "\n".join(line for line in text.split("\n") if not line.startswith("|"))))
    described = _pool(pool)
    for need, value in chance.sample(needs, min(ARTICLE_NEEDS, len(needs))):
        yield _item(need, (value,), "articles", described)


Pool: TypeAlias = tuple[BM25, Sequence[Passage]]


def _pool(passages: Iterable[Passage]) -> Pool:
    distinct = list({passage.text: passage for passage in passages}.values())
    return BM25(distinct), distinct


def _item(need: str, answers: Sequence[str], source: str, pool: Pool) -> Item:
    index, passages = pool
    return Item(need, tuple(answers), source, tuple(passages[row] for row in index.best(need, PAGES)))


def collected(asked: Sequence[Item]) -> list[Row]:
    """Every value that the readers offer for the items."""
    reader = TrainedReader(RuleReader(BuiltinEncoder(threads=1)), SpanReader(threads=1))

    def read(place: int) -> list[Row]:
        item = asked[place]
        query, rows = read_query(item.need), []
        for passage in item.pages:
            seen = page(Window("", passage.title, "", ((0, len(passage.text)),), passage.text))
            for offered in reader.offered(query, seen):
                features = dict(features_of(query, seen, offered))
                rows.append(
                    Row(
                        place, offered.value, features, scoring.f1(offered.value, item.answers) if item.answers else 0.0
                    )
                )
        return rows

    with ThreadPoolExecutor(2) as threads:
        return [row for rows in threads.map(read, range(len(asked))) for row in rows]


def report(asked: Sequence[Item], rows: Sequence[Row], chances: Floats) -> None:
    """F1 of the likeliest value of each item, by source, and how often values of each likelihood are right."""
    best: dict[int, int] = {}
    most: dict[int, float] = {}
    for place, row in enumerate(rows):
        if row.item not in best or chances[place] > chances[best[row.item]]:
            best[row.item] = place
        most[row.item] = max(most.get(row.item, 0.0), row.f1)
    for source in sorted({item.source for item in asked}):
        numbers = [n for n, item in enumerate(asked) if item.source == source]
        got = [rows[best[n]].f1 if n in best else 0.0 for n in numbers]
        offered = [most.get(n, 0.0) for n in numbers]
        print(f"{source}: {len(numbers)} needs, F1 of the likeliest {np.mean(got):.3f}, best {np.mean(offered):.3f}")
    right = np.array([row.f1 >= RIGHT for row in rows])
    for low in np.arange(0, 1, 0.1):
        chosen = (chances >= low) & (chances < low + 0.1)
        if chosen.any():
            print(f"  said {low:.1f}: {chosen.sum()} values, right {right[chosen].mean():.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/ and multihop/")
    parser.add_argument("--articles", type=Path, default=ROOT / "input_wikipedia", help="articles with infoboxes")
    parser.add_argument("--rows", type=Path, help="a file that keeps what was read, as JSON")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()

    asked = list(items(arguments.data, arguments.articles, arguments.seed))
    if arguments.rows and arguments.rows.exists():
        rows = [Row(**row) for row in json.loads(arguments.rows.read_text(encoding="utf-8"))]
    else:
        rows = collected(asked)
        if arguments.rows:
            arguments.rows.write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")
    names = list(rows[0].features)
    x = np.array([[row.features[name] for name in names] for row in rows])
    y = np.array([float(row.f1 >= RIGHT) for row in rows])
    folds = np.array([hashlib.sha256(asked[row.item].need.encode()).digest()[0] % FOLDS for row in rows])
    chances = np.zeros(len(rows))
    for fold in range(FOLDS):
        weights = scoring.logistic(x[folds != fold], y[folds != fold], ridge=RIDGE)
        chances[folds == fold] = 1 / (1 + np.exp(-x[folds == fold] @ weights))
    report(asked, rows, chances)
    for name, weight in zip(names, scoring.logistic(x, y, ridge=RIDGE), strict=True):
        print(f'    "{name}": {weight:.3f},')


if __name__ == "__main__":
    main()
