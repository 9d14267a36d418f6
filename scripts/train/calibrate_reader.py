"""Calibrate the exported reader on questions that it was not trained on, and write `reader.json`.

    python -m scripts.train.calibrate_reader --data FOLDER [--weights FOLDER]

Relevance and support become probabilities by Platt scaling of their logits together with the log odds of the best
span; the threshold is the lowest that refuses three in four of the unanswerable reading questions. Printed
figures are cross-fitted: each half of the held-out passages is measured with what the other half gave; the file gets
what both give together. Then put the digests into WEIGHTS of iterative_rag/builtin/reading/span_reader.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# isort: on
import numpy as np
import onnx
import onnxruntime as ort  # type: ignore[import-untyped]
from tokenizers import Tokenizer

# isort: off - this one switches the reports of onnxruntime off, so it has to come first
import iterative_rag  # noqa: F401
from iterative_rag.builtin.reading.span_reader import NAME
from iterative_rag.builtin.reading.span_search import likeliest, log_odds
from scripts.export_encoder import OUT, session
from scripts.train import data, examples, scoring
from scripts.train.examples import MAX_NEED, MAX_TOKENS, Example, Pairs
from scripts.train.export_reader import feed
from scripts.train.scoring import Floats

LONGEST_ANSWER, OVERLAP = 30, 64
REFUSED = 76.0  # per cent of the unanswerable questions that the threshold must refuse


@dataclass(frozen=True, slots=True)
class Look:
    """One pair as the network sees it, with the truth beside it (None: unknown). `fold` is 0 or 1, by the passage."""

    relevance: float
    support: float
    sure: float
    relevant: float | None
    supports: float | None
    f1: float
    exact: float
    fold: int
    reading: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    relevance: tuple[float, float, float]
    support: tuple[float, float, float]
    threshold: float

    def probability(self, look: Look) -> float:
        own, sure, shift = self.relevance
        return float(1 / (1 + np.exp(-(own * look.relevance + sure * look.sure + shift))))


def looks(runner: ort.InferenceSession, pairs: Pairs, drawn: Sequence[Example]) -> list[Look]:
    found = []
    for example in drawn:
        pair, gold = pairs.pair(example), example.gold
        spans, verdict = runner.run(None, feed(pair))
        ends = spans[pair.text : len(pair.ids) - 1]
        if not len(ends):
            continue
        share, first, last = likeliest(ends[:, 0], ends[:, 1], LONGEST_ANSWER)[0]
        text = gold.passage.text[pair.offsets[first][0] : pair.offsets[last][1]]
        answers = [gold.passage.text[start:end] for start, end in gold.spans]
        found.append(
            Look(
                float(verdict[0]),
                float(verdict[1]),
                log_odds(share),
                gold.relevant,
                gold.support,
                scoring.f1(text, answers),
                scoring.exact_match(text, answers),
                hashlib.sha256(gold.passage.text.encode()).digest()[2] % 2,
                example.source in examples.READING,
            )
        )
    return found


def fitted(some: Sequence[Look]) -> Calibration:
    relevance = _platt([(k.relevance, k.sure, k.relevant) for k in some])
    support = _platt([(k.support, k.sure, k.supports) for k in some])
    draft = Calibration(relevance, support, 0.5)
    marks = np.linspace(0.05, 0.95, 91)
    best = next((mark for mark in marks if reading_figures(some, draft, float(mark))[2] >= REFUSED), marks[-1])
    return Calibration(relevance, support, round(float(best), 3))


def _platt(rows: Sequence[tuple[float, float, float | None]]) -> tuple[float, float, float]:
    known = [row for row in rows if row[2] is not None]
    weights, shift = scoring.platt(np.array([row[:2] for row in known]), np.array([row[2] for row in known], float))
    return float(weights[0]), float(weights[1]), shift


def reading_figures(some: Sequence[Look], calibration: Calibration, threshold: float) -> Floats:
    """On the reading questions: best-span F1 and EM aside, F1 with answer and no-answer accuracy at a threshold.

    Returns best-span F1, F1 with answer, no-answer accuracy, best-span EM; all in percent.
    """
    probability = np.array([calibration.probability(look) for look in some if look.reading])
    relevant = np.array([look.relevant for look in some if look.reading], float) > 0.5
    right = np.array([look.f1 for look in some if look.reading])
    exact = np.array([look.exact for look in some if look.reading])
    answered = probability >= threshold
    figures = (
        right[relevant].mean(),
        (right * answered)[relevant].mean(),
        (~answered)[~relevant].mean(),
        exact[relevant].mean(),
    )
    return np.array(figures) * 100


def report(found: Sequence[Look]) -> None:
    """Cross-fitted figures of the held-out reading questions."""
    halves = [[look for look in found if look.fold == fold] for fold in (0, 1)]
    rows, probabilities, truths = [], [], []
    for measured, other in ((0, 1), (1, 0)):
        calibration = fitted(halves[other])
        rows.append(reading_figures(halves[measured], calibration, calibration.threshold))
        known = [look for look in halves[measured] if look.reading]
        weights = len(known)
        rows[-1] = np.append(rows[-1], weights)
        probabilities += [calibration.probability(look) for look in known]
        truths += [bool(look.relevant) for look in known]
        print(f"half {measured}: threshold {calibration.threshold} figures {np.round(rows[-1], 1)}")
    table = np.array(rows)
    mean = (table[:, :4] * table[:, 4:]).sum(0) / table[:, 4].sum()
    print(f"held-out reading, {int(table[:, 4].sum())} questions, cross-fitted threshold:")
    print(
        f"  best span F1 {mean[0]:.1f} EM {mean[3]:.1f}; F1 with answer {mean[1]:.1f}; no-answer accuracy {mean[2]:.1f}"
    )
    print(f"  relevance: AUC {scoring.area_under_curve(probabilities, truths):.3f}", end=" ")
    print(f"ECE {scoring.calibration_error(probabilities, truths):.3f}")


def calibration_examples(folder: Path, seed: int) -> tuple[list[Example], list[Example]]:
    """The held-out reading questions, and what was kept of the other sources with its hard negatives."""
    _, measured = data.reading(folder)
    reading = [Example(q.needs[0], q.gold[0], q.source) for q in measured]
    kept = [q for q in examples.training_questions(folder, seed=seed) if examples.for_calibration(q)]
    return reading, examples.epoch(kept, seed, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that the reader was trained on")
    parser.add_argument("--weights", type=Path, default=OUT, help="folder of reader.onnx; reader.json is written there")
    parser.add_argument("--graph", type=Path, help="measure this graph instead (float32, say) and write nothing")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()

    random.seed(arguments.seed)
    pairs = Pairs(Tokenizer.from_file(str(OUT / "tokenizer.json")))
    runner = session(onnx.load(arguments.graph or arguments.weights / "reader.onnx"))
    reading, others = calibration_examples(arguments.data, arguments.seed)
    found = looks(runner, pairs, [*reading, *others])
    report(found)
    if arguments.graph:
        return
    calibration = fitted(found)
    about = {
        "name": NAME,
        "max_tokens": MAX_TOKENS,
        "max_need_tokens": MAX_NEED,
        "longest_answer_tokens": LONGEST_ANSWER,
        "overlap_tokens": OVERLAP,
        "threshold": calibration.threshold,
        "calibration": {
            "relevance": [round(value, 6) for value in calibration.relevance],
            "support": [round(value, 6) for value in calibration.support],
        },
    }
    (arguments.weights / "reader.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    for name in ("reader.onnx", "reader.json"):
        print(f"{hashlib.sha256((arguments.weights / name).read_bytes()).hexdigest()}  {name}")


if __name__ == "__main__":
    main()
