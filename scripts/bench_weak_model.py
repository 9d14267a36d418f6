#!/usr/bin/env python3
"""How much a weak model costs: the constructed suite with a mind of which 30 % of the replies break a rule.

    scripts/bench_weak_model.py [--strategy iterative full ...] [--seeds 3] [--share 0.3] [--show]

Each case of evaluation/corrections is asked once with the scripted mind and once with the same mind played weak
(fakes/weak_model.py), for each seed. Crashes are errors that end a run without an answer; unproved is an answer with a
name or number that stands in none of its quotes, in no computation and not in the question. No other machine is asked.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import correction_cases
from fakes.case_following_llm import CaseFollowingLLM
from fakes.correction_cases import Case
from fakes.weak_model import WeakModel
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.errors import IterativeRAGError
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import load_settings
from iterative_rag.types import Status

HEADING = "strategy    mind        cases   right  wrong  gave up  unproved  crashes    calls"


@dataclass(frozen=True)
class Outcome:
    """What came of one case: `told` says what is not right with it."""

    case: str
    right: bool
    crashed: bool
    unproved: bool
    answered: bool
    calls: int
    told: str


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as home:
        os.environ["ITERATIVE_RAG_HOME"] = home
        settings = load_settings({**correction_cases.SETTINGS, "llm": "builtin"})
        index_paths([correction_cases.CORPUS], settings=settings, corpus=correction_cases.NAME)
        mind = CaseFollowingLLM()
        print(HEADING)
        for strategy in options.strategy:
            good = report(strategy, "good", asked(IterativeRAG.from_settings(settings, llm=mind.llm), mind, strategy))
            for seed in range(options.seeds):
                weak = WeakModel(mind.llm, share=options.share, seed=seed)
                outcomes = asked(IterativeRAG.from_settings(settings, llm=weak), mind, strategy)
                lost = good - report(strategy, f"weak {seed}", outcomes)
                kinds = ", ".join(f"{rule} {count}" for rule, count in weak.broken.most_common())
                print(f"{'':<12}lost {lost:.1f} points; broken: {sum(weak.broken.values())} of {weak.calls} ({kinds})")
                if options.show:
                    show(outcomes)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--strategy", nargs="+", choices=STRATEGIES.offered, default=["iterative", "full"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--show", action="store_true", help="list what is not right")
    return parser.parse_args()


def asked(engine: IterativeRAG, mind: CaseFollowingLLM, strategy: str) -> list[Outcome]:
    outcomes = [outcome(engine, mind, strategy, case) for case in correction_cases.cases()]
    engine.close()
    return outcomes


def outcome(engine: IterativeRAG, mind: CaseFollowingLLM, strategy: str, case: Case) -> Outcome:
    mind.script = case.script
    try:
        answer = engine.ask(case.question, strategy=strategy)
    except IterativeRAGError as error:
        return Outcome(case.id, False, True, False, False, 0, f"{type(error).__name__}: {error}")
    answered = answer.status is Status.ANSWERED
    return Outcome(
        case.id,
        right=correction_cases.right(case, answer, web=False),
        crashed=False,
        unproved=answered and correction_cases.unproved_answer(answer),
        answered=answered,
        calls=answer.usage.llm_calls,
        told=f"{answer.status.value} {answer.short_answer!r} ({answer.confidence:.2f}) {answer.reason}",
    )


def report(strategy: str, name: str, outcomes: Sequence[Outcome]) -> float:
    """Prints a line and returns the points: the share of right outcomes, in percent."""
    count: Counter[str] = Counter()
    for one in outcomes:
        count["right"] += one.right
        count["wrong"] += one.answered and not one.right
        count["unproved"] += one.unproved
        count["crashed"] += one.crashed
    gave_up = len(outcomes) - count["right"] - count["wrong"] - count["crashed"]
    points = 100 * count["right"] / len(outcomes)
    calls = sum(one.calls for one in outcomes) / len(outcomes)
    print(
        f"{strategy:<12}{name:<10}{len(outcomes):>7}{points:>7.1f}%{count['wrong']:>7}{gave_up:>9}{count['unproved']:>10}"
        f"{count['crashed']:>9}{calls:>9.1f}"
    )
    return points


def show(outcomes: Sequence[Outcome]) -> None:
    for one in outcomes:
        if not one.right or one.unproved:
            print(f"    {one.case}{' UNPROVED' if one.unproved else ''}: {one.told[:170]}")


if __name__ == "__main__":
    main()
