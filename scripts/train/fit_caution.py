"""Choose how sure the built-in backend must be to answer: `given` of builtin/reasoning/answer_trust.py.

    python -m scripts.train.fit_caution --data FOLDER --rows rows.jsonl [--questions N] [--write]

Questions of HotpotQA whose articles were set aside from all training are asked with `--guess`; printed is the risk
curve: for each least confidence the share of questions answered, and of these the share that is wrong, with its 95 %
interval. `--write` puts the least confidence into the code from which on at most WRONG of the answers are wrong.
Afterwards `python -m scripts.bench.confidence ... --write` fits the words.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import iterative_rag.builtin.reasoning.answer_trust as code
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.evaluation.answer_match import score
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.records import Question
from iterative_rag.evaluation.statistics import mean_interval
from iterative_rag.settings import load_settings
from scripts.bench.confidence import asked, set_aside

WRONG, STEP, MANY, IN_FLIGHT = 0.26, 0.02, 20, 2


@dataclass(frozen=True, slots=True)
class Guess:
    """The answer to one question, given at any confidence; `f1` against the accepted ones."""

    group: str
    gold: bool
    question: str
    confidence: float
    right: bool
    f1: float


def ask(group: str, questions: Sequence[Question], corpus: str, gold: bool) -> Iterator[Guess]:
    rag = IterativeRAG.from_settings(load_settings({"llm": "builtin", "corpus": corpus, "guess": True}))

    def guess(question: Question) -> Guess:
        answer = rag.ask(question.text)
        measured = score(answer.short_answer, question.answers)
        right = bool(answer.short_answer) and bool(measured.right)
        confidence = answer.confidence if answer.short_answer else 0.0
        return Guess(group, gold, question.text, confidence, right, measured.f1)

    with rag, ThreadPoolExecutor(IN_FLIGHT) as threads:
        yield from threads.map(guess, questions)


def risk(found: Sequence[Guess]) -> float:
    """Print the curve; the least confidence from which on at most WRONG of MANY or more answers are wrong."""
    chosen = 1.0
    print("| from | answered | wrong of these | F1 of all |\n|---|---|---|---|")
    for step in range(int(1 / STEP) - 1, -1, -1):
        least = round(step * STEP, 4)
        given = [one for one in found if one.confidence >= least]
        if not given:
            continue
        wrong = [float(not one.right) for one in given]
        low, high = mean_interval(wrong)
        share, f1 = sum(wrong) / len(wrong), sum(one.f1 for one in given) / len(found)
        print(f"| {least:.2f} | {len(given) / len(found):.2f} | {share:.2f} ({low:.2f}-{high:.2f}) | {100 * f1:.1f} |")
        if len(given) < MANY or share <= WRONG:
            chosen = least
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/, tables/ and frames/")
    parser.add_argument("--rows", type=Path, required=True, help="where the answers are kept")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"), help="folder of the starter corpus")
    parser.add_argument("--write", action="store_true", help="put the threshold into the code")
    arguments = parser.parse_args()
    file = set_aside(arguments.data, arguments.rows.parent, arguments.questions, arguments.starter)
    dataset = load(file)
    chosen = risk(asked([("aside", dataset, dataset.questions, True)], arguments.rows, Guess, ask))
    print(f"given: {chosen:g}")
    if arguments.write:
        path = Path(code.__file__)
        text = path.read_text("utf-8")
        path.write_text(re.sub(r"(CAREFUL = .*given=)[\d.]+", rf"\g<1>{chosen:g}", text), "utf-8")


if __name__ == "__main__":
    main()
