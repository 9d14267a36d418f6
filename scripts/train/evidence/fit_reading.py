"""Fit what the installed evidence reader's heads are worth on questions and articles set aside: `evidence.json`.

    python -m scripts.train.evidence.fit_reading --rows FOLDER [--needs N]

Every need of `measure.jsonl` and `measure_short.jsonl` is read over its own passage and over others that BM25 finds for
it among all passages set aside. A value that is offered becomes a row: what the product knows of it, and whether it is
the answer; so does yes or no by a passage. Fitted are Platt's scaling of the head "answerable" and the logistic
regressions of `finding_odds`. Printed are figures of five folds by need, for values also
without the kind of answer expected.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iterative_rag.builtin.networks import log_odds
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.evidence_reader import (
    LONGEST_ANSWER,
    EvidenceReader,
    PassageText,
    likeliest,
)
from iterative_rag.builtin.reading.page_reader import EvidencePageReader, Offered
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.evaluation.statistics import calibration
from iterative_rag.types import Window
from scripts.train import scoring
from scripts.train.data import Passage
from scripts.train.evidence import install
from scripts.train.evidence.asked import NO, YES
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.measuring import example_of, family
from scripts.train.negatives import BM25

SHORT = frozenset({"2wiki", "musique", "popqa", "infobox"})
PAGES, FOLDS, RIGHT, RIDGE = 4, 5, 0.6, 1e-4
Floats: TypeAlias = npt.NDArray[np.float64]
# Of the questions of BoolQ so many are a yes, of those that users ask about half.
YES_SHARE = 0.625


@dataclass(frozen=True, slots=True)
class Row:
    """What was offered for a need, its features by name, and whether it is the answer."""

    need: str
    features: dict[str, float]
    right: bool

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.need.encode()).digest()[0] % FOLDS


def examples(folder: Path) -> list[Example]:
    names = ("measure.jsonl", "measure_short.jsonl")
    lines = [line for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    found = [example_of(json.loads(line)) for line in lines]
    random.Random(7).shuffle(found)
    return found


def balanced(needs: Sequence[Example]) -> list[Example]:
    """Short needs, which name their subject as those of the loop do, and other questions by turns."""
    short = [one for one in needs if one.source in SHORT]
    others = [one for one in needs if one.source not in SHORT]
    return [one for pair in zip(short, others, strict=False) for one in pair]


def value_rows(reader: EvidencePageReader, asked: Sequence[Example], pool: Sequence[Passage]) -> Iterator[Row]:
    index = BM25(pool)
    for example in asked:
        answers = [example.shown.text[start:end] for start, end in example.shown.spans]
        own = Passage(example.shown.title, example.shown.text)
        others = [pool[place] for place in index.best(example.question, PAGES)]
        for passage in dict.fromkeys((own, *others)):
            for offered in reader.offered(read_query(example.question), _page(passage)):
                right = bool(answers) and scoring.f1(offered.value, answers) >= RIGHT
                yield Row(example.question, offered.features, right)


def polar_rows(reader: EvidencePageReader, asked: Sequence[Example]) -> Iterator[Row]:
    for example in asked:
        passage = Passage(example.shown.title, example.shown.text)
        decided = reader.decided(read_query(example.question), _page(passage))
        for offered in decided:
            yield Row(example.question, offered.features, _says(offered) == example.polar)


def _says(offered: Offered) -> int:
    return YES if offered.value == "yes" else NO


def _page(passage: Passage) -> UnitPage:
    return page(Window("", passage.title, "", ((0, len(passage.text)),), passage.text))


def answerable(reader: EvidenceReader, asked: Sequence[Example]) -> tuple[float, float, float]:
    """Platt's weights of the logit, of the log odds of the best span, and the shift."""
    model = reader.network
    columns, truths = [], []
    for example in asked:
        shown = example.shown
        windows = model.windows(model.asked(example.question), PassageText(shown.title, shown.section, shown.text))
        for window in windows[:1]:
            out = model.run(window)
            ends = out["span"][window.first : window.first + len(window.offsets)]
            share = likeliest(ends[:, 0], ends[:, 1], LONGEST_ANSWER)[0][0]
            columns.append((float(out["answerable"][0]), log_odds(share)))
            truths.append(float(example.answerable))
    weights, shift = scoring.platt(np.array(columns), np.array(truths))
    return float(weights[0]), float(weights[1]), shift


def fitted(rows: Sequence[Row], left_out: str = "") -> dict[str, float]:
    """The weights by name; prints the figures of the folds."""
    names = [name for name in rows[0].features if name != left_out]
    x = np.array([[row.features[name] for name in names] for row in rows])
    y = np.array([float(row.right) for row in rows])
    folds = np.array([row.fold for row in rows])
    chances = scoring.chances_in_folds(x, y, folds, ridge=RIDGE)
    auc = scoring.area_under_curve(chances.tolist(), (y > 0).tolist())
    error = calibration(chances.tolist(), (y > 0).tolist())["ece"]
    print(f"{len(rows)} offered, {y.mean():.2f} right; AUC {auc:.3f} ECE {error:.3f} without {left_out or 'nothing'}")
    for low in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        chosen = (chances >= low) & (chances < low + 0.1)
        if chosen.any() and not left_out:
            print(f"  said {low:.1f}: {chosen.sum()}, right {y[chosen].mean():.2f}")
    whole = scoring.logistic(x, y, ridge=RIDGE)
    return {name: round(float(weight), 4) for name, weight in zip(names, whole, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="folder of `make_rows`")
    parser.add_argument("--needs", type=int, default=500, help="needs for values; of yes/no half as many")
    parser.add_argument("--keep", type=Path, help="write what was offered there, for a closer look")
    arguments = parser.parse_args()

    every = examples(arguments.rows)
    by = {name: [one for one in every if family(one) == name] for name in ("reading", "table", "polar")}
    prose = by["reading"] + [one for one in by["table"] if one.source == "infobox"]
    # A need that stands beside another article's passage has its answer elsewhere.
    needs = [one for one in prose if one.answerable >= 0 and not one.source.startswith("other:")]
    pool = list({one.shown.text: Passage(one.shown.title, one.shown.text) for one in prose}.values())
    needs = balanced(needs)
    evidence = EvidenceReader(threads=1)
    platt = answerable(evidence, [one for one in prose if one.answerable >= 0][-500:])
    about: dict[str, object] = {**install.NEUTRAL, "answerable": [round(value, 6) for value in platt]}
    print(f"answerable: {about['answerable']}")

    evidence.network.answerable = platt
    reader = EvidencePageReader(evidence)
    values = list(value_rows(reader, needs[: arguments.needs], pool))
    polar = list(polar_rows(reader, by["polar"][: arguments.needs // 2]))
    if arguments.keep:
        kept = [{"need": row.need, "right": row.right, **row.features} for row in (*values, *polar)]
        arguments.keep.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    fitted(values, "kind")
    decided = fitted(polar)
    decided["yes"] = round(decided["yes"] - log_odds(YES_SHARE), 4)
    about["findings"] = {**install.FINDINGS, "value": fitted(values), "polar": decided}
    install.put_settings(about)
    install.put_digests()
    print(json.dumps(about["findings"], indent=1))


if __name__ == "__main__":
    main()
