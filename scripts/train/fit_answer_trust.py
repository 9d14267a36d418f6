"""Fit the trust in answers: the weights `answer` of `evidence.json`. Run by hand after the reader's weights changed.

    python -m scripts.train.fit_answer_trust --data FOLDER --evidence FOLDER --rows rows.jsonl [--write]

The questions of GROUPS, and those of one hop from the rows of `evidence.make_rows`, are asked with `--guess` over the
pool of their file; some are asked again over the pool without any paragraph that supports an answer, since people also
ask what a corpus does not hold. Each answer becomes a row: what `FittedAnswerTrust` knows of it, and whether it is
right. Printed are figures of ten folds by question, with the weakest step alone and with everything; `--write` puts
the weights into the package. What was asked stays in `rows`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iterative_rag.app.factory import IterativeRAG, cache, open_corpus
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.answer_trust import GUESSING, Answering, FittedAnswerTrust
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.evaluation.answer_match import score
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.records import Question
from iterative_rag.evaluation.statistics import calibration
from iterative_rag.settings import load_settings
from scripts.bench.confidence import Group, Job, asked, jobs, with_and_without
from scripts.train import scoring
from scripts.train.evidence import install
from scripts.train.one_hop_questions import write_one_hop

GROUPS = (
    Group("hotpotqa_2.jsonl.gz", stop=600, without=150, drawn=True),
    Group("hotpotqa_train.jsonl", without=0),
    Group("musique_train.jsonl", "A"),
    Group("2wiki_train.jsonl", "A", stop=250, without=80),
)
ONE_HOP, WITHOUT = "one hop", 120
FOLDS, RIDGE = 10, 1e-3
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One question over one pool (`gold`: it holds the answer); `features` are empty where the trust is not fitted."""

    group: str
    gold: bool
    question: str
    right: bool
    features: dict[str, float]

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.question.encode()).digest()[0] % FOLDS


class Recorded(FittedAnswerTrust):
    """Keeps the features of the last answer that was weighed. Of several plans of a question one is chosen by the
    weights of the package, as it is where people ask."""

    def __init__(self) -> None:
        super().__init__(ReaderRoles())
        self.last: dict[str, float] = {}

    def __call__(self, given: Answering) -> float:
        self.last = self.features(given) if self.is_fitted_for(given) else {}
        return super().__call__(given)


def everything(folder: Path, evidence: Path, work: Path) -> Iterator[Job]:
    yield from jobs(folder, GROUPS, work)
    write_one_hop(evidence, work / "one_hop.jsonl")
    dataset = load(work / "one_hop.jsonl")
    yield from with_and_without(ONE_HOP, dataset, dataset.questions, WITHOUT)


def ask(group: str, questions: Sequence[Question], corpus: str, gold: bool) -> Iterator[Row]:
    settings = load_settings({"llm": "builtin", "corpus": corpus, "guess": True, "cache": False})
    encoder, trust = BuiltinEncoder(), Recorded()
    backend = BuiltinBackend(encoder, caution=GUESSING, trust=trust)
    rag = IterativeRAG(
        settings, corpus=open_corpus(settings, encoder), backend=backend, cache=cache(settings), embedder=encoder
    )
    try:
        for question in questions:
            trust.last = {}
            answer = rag.ask(question.text)
            right = bool(answer.short_answer) and bool(score(answer.short_answer, question.answers).right)
            yield Row(group, gold, question.text, right, trust.last if answer.short_answer else {})
    finally:
        rag.close()


def chances(rows: Sequence[Row], names: Sequence[str]) -> Floats:
    """Of each row, by weights that were fitted without its fold."""
    x = np.array([[row.features[name] for name in names] for row in rows])
    y = np.array([float(row.right) for row in rows])
    folds = np.array([row.fold for row in rows])
    return scoring.chances_in_folds(x, y, folds, ridge=RIDGE)


def fitted(rows: Sequence[Row]) -> dict[str, float]:
    """The weights by name; prints the figures of the folds, by group."""
    names = list(rows[0].features)
    for said, used in (("weakest step alone", ["bias", "weakest"]), ("everything", names)):
        found = chances(rows, used)
        for group in ("", *dict.fromkeys(row.group for row in rows)):
            chosen = [place for place, row in enumerate(rows) if group in {"", row.group}]
            shares, truths = [float(found[place]) for place in chosen], [rows[place].right for place in chosen]
            auc, error = scoring.area_under_curve(shares, truths), calibration(shares, truths)["ece"]
            print(f"{said}, {group or 'all'}: {len(chosen)} answers, AUC {auc:.3f}, ECE {error:.3f}")
    x = np.array([[row.features[name] for name in names] for row in rows])
    weights = scoring.logistic(x, np.array([float(row.right) for row in rows]), ridge=RIDGE)
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the multi-hop files")
    parser.add_argument("--evidence", type=Path, required=True, help="folder of `scripts.train.evidence.make_rows`")
    parser.add_argument("--rows", type=Path, required=True, help="where the answers are kept")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    given = parser.parse_args()
    wanted = everything(given.data, given.evidence, given.rows.parent)
    weights = fitted([row for row in asked(wanted, given.rows, Row, ask) if row.features])
    print(json.dumps(weights, indent=1))
    if given.write:
        install.put_findings("answer", weights)


if __name__ == "__main__":
    main()
