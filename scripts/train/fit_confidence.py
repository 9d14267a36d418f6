"""Fit a logistic model of an answer's confidence, and say whether it beats the backend's own word. Run by hand.

    python -m scripts.train.fit_confidence --traces HOME/traces --data FOLDER

Reads the traces of `iterative-rag evaluate run` over 2wiki_train (first 250), hotpotqa_train and musique_train, fits on
what was answered, and prints ECE (ten bins) and AUC on hotpotqa_dev (first 200): of the backend's own word, of
`agent/reflective/confidence.py`, and of the model. The latest trace of a question counts.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iterative_rag.evaluation.scoring.answer_match import score
from iterative_rag.text.folding import folded
from iterative_rag.types import Draft, Fact, Inquiry, Need
from iterative_rag.verification.confidence import confidence
from iterative_rag.verification.conflicts import with_conflicts
from iterative_rag.verification.rule_reflector import RuleReflector

FITTED = {"2wiki_train": 250, "hotpotqa_train": 100, "musique_train": 100}
MEASURED = {"hotpotqa_dev": 200}
NAMES = ("own", "least", "mean", "agreeing", "rivals", "hops", "unproved", "conflict")
RIDGE, BINS = 1.0, 10
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    signs: tuple[float, ...]
    own: float
    bounded: float
    right: bool


def latest(folder: Path) -> dict[str, tuple[Inquiry, Draft]]:
    """The last run of each question that ended in a draft."""
    runs = {}
    for path in sorted(folder.glob("*.jsonl")):
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        drafts = [event["draft"] for event in events if event["event"] == "answering"]
        if drafts and events[0].get("strategy") == "iterative" and not events[0]["settings"].get("guess"):
            question = events[0]["question"]
            facts = tuple(_unique(event for event in events if event["event"] == "reading"))
            runs[question] = Inquiry(question, question, facts), _draft(drafts[-1])
    return runs


def _unique(readings: Iterable[Mapping[str, Any]]) -> Iterable[Fact]:
    """The facts as the engine keeps them: each place once for a need."""
    seen = set()
    for row in (row for reading in readings for row in reading["facts"]):
        need = Need(row["need"]["question"])
        key = row["document_id"], row["start"], row["end"], " ".join(need.question.casefold().split()).rstrip(" ?.")
        if key not in seen:
            seen.add(key)
            yield Fact(**{**{name: row[name] for name in Fact.__slots__ if name in row}, "need": need})


def _draft(row: Mapping[str, Any]) -> Draft:
    cited = tuple(row["cited"])
    return Draft(row["answered"], row["text"], row["short_answer"], cited, row["missing"], row["confidence"])


def rows(runs: Mapping[str, tuple[Inquiry, Draft]], data: Path, sets: Mapping[str, int]) -> list[Row]:
    found = []
    for name, count in sets.items():
        lines = (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
        for question in map(json.loads, lines):
            inquiry, draft = runs.get(question["question"], (None, None))
            if inquiry is not None and draft is not None and draft.answered:
                accepted = [question["answer"], *question.get("aliases", ())]
                found.append(row(inquiry, draft, bool(score(draft.short_answer, accepted).right)))
    return found


def row(inquiry: Inquiry, draft: Draft, right: bool) -> Row:
    facts = [inquiry.facts[place] for place in draft.cited if place < len(inquiry.facts)]
    scores = [fact.score for fact in facts] or [0.0]
    short = folded(draft.short_answer).strip(" .")
    last = facts[-1].need if facts else None
    agreeing = {fact.document_id for fact in inquiry.facts if folded(fact.value).strip(" .") == short}
    rivals = {fact.document_id for fact in inquiry.facts if fact.need == last and fact.value} - agreeing
    reflection = RuleReflector().reflect(inquiry, draft)
    strict = RuleReflector(strict=True).reflect(inquiry, draft).claims
    _, conflicts = with_conflicts(draft, inquiry)
    own = min(max(draft.confidence, 0.02), 0.98)
    signs = (
        math.log(own / (1 - own)),
        min(scores),
        sum(scores) / len(scores),
        float(min(3, max(0, len(agreeing) - 1))),
        float(min(3, len(rivals))),
        float(min(4, max(0, len({fact.need for fact in facts}) - 1))),
        sum(not claim.grounded for claim in strict) / max(1, len(strict)),
        float(bool(conflicts)),
    )
    return Row(signs, draft.confidence, confidence(draft, reflection, conflicts), right)


def fit(signs: Floats, right: Floats) -> Floats:
    """Ridge logistic regression by Newton's method; the last weight is the bias."""
    columns = np.c_[signs, np.ones(len(signs))]
    ridge = np.diag([*[RIDGE] * signs.shape[1], 1e-9])
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        shares = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (shares - right) + ridge @ weights
        weights -= np.linalg.solve(columns.T @ (columns * (shares * (1 - shares))[:, None]) + ridge, slope)
    return weights


def ece(shares: Floats, right: Floats) -> float:
    """Expected calibration error: how far stated and real shares lie apart, over bins of equal width."""
    places = np.minimum((shares * BINS).astype(int), BINS - 1)
    groups = [places == place for place in range(BINS)]
    return float(sum(abs(shares[group].sum() - right[group].sum()) for group in groups) / len(right))


def auc(shares: Floats, right: Floats) -> float:
    good, bad = shares[right == 1], shares[right == 0]
    return float(np.mean([(one > bad).mean() + 0.5 * (one == bad).mean() for one in good]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the multi-hop files")
    given = parser.parse_args()
    runs = latest(given.traces)
    learnt, asked = rows(runs, given.data, FITTED), rows(runs, given.data, MEASURED)
    weights = fit(np.array([one.signs for one in learnt]), np.array([float(one.right) for one in learnt]))
    print(f"{len(learnt)} answers fitted on, {np.mean([one.right for one in learnt]):.0%} of them right")
    print("weights: " + ", ".join(f"{name} {w:.2f}" for name, w in zip((*NAMES, "bias"), weights, strict=True)))
    right = np.array([float(one.right) for one in asked])
    print(f"{len(asked)} answers measured on, {right.mean():.0%} of them right")
    fitted = 1 / (1 + np.exp(-np.c_[np.array([one.signs for one in asked]), np.ones(len(asked))] @ weights))
    for name, shares in (
        ("the backend's own word", np.array([one.own for one in asked])),
        ("held down", np.array([one.bounded for one in asked])),
        ("fitted", fitted),
    ):
        print(f"{name:20} ECE {ece(shares, right):.3f}  AUC {auc(shares, right):.3f}")


if __name__ == "__main__":
    main()
