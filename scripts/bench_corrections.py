#!/usr/bin/env python3
"""Run the constructed suite of evaluation/corrections and say, by class and language, what came out.

    scripts/bench_corrections.py [--backend scripted|builtin] [--strategy full ...] [--class web ...] [--json] [--show]

The corpus is indexed into a temporary home. Each case is asked without the web; those of the class web once more with a
stand-in engine on loopback. `right` is the answer, or the abstention where there is none to be had; `all shown` besides
everything else that the case must show (conflict, computation, premise, page cited, correction); `wrong` an answer that
is not right; `gave up` an abstention where an answer was to be had. Nothing outside this machine is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import correction_cases
from fakes.case_following_llm import CaseFollowingLLM
from fakes.correction_cases import Case
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import load_settings
from iterative_rag.types import Answer, FinalStep, Status, Step


@dataclass(frozen=True)
class Outcome:
    """What came of one case."""

    strategy: str
    id: str
    kind: str
    lang: str
    web: bool
    right: bool
    failings: tuple[str, ...]
    status: str
    short_answer: str
    confidence: float
    calls: int
    seconds: float


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as home, correction_cases.open_web() as allowed:
        os.environ["ITERATIVE_RAG_HOME"] = home
        forced = correction_cases.READ_AS_ENGLISH if options.backend == "builtin" else {}
        given = {**correction_cases.SETTINGS, "llm": "builtin", "shortlist": options.shortlist, **forced}
        settings = load_settings(given)
        index_paths([correction_cases.CORPUS], settings=settings, corpus=correction_cases.NAME)
        llm = CaseFollowingLLM() if options.backend == "scripted" else None
        engine = IterativeRAG.from_settings(settings, llm=llm.llm if llm else "builtin")
        with_web = engine.over(engine.corpus, **allowed)
        outcomes: list[Outcome] = []
        for strategy in options.strategy:
            for case, web in runs(options.classes, strategy):
                outcomes.append(outcome(with_web if web else engine, llm, strategy, case, web=web))
        engine.close()
    if options.json:
        print(json.dumps([asdict(one) for one in outcomes], ensure_ascii=False, indent=1))
        return
    for name in options.strategy:
        report(name, [one for one in outcomes if one.strategy == name], show=options.show)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backend", choices=["scripted", "builtin"], default="scripted")
    parser.add_argument("--strategy", nargs="+", choices=STRATEGIES.offered, default=["full"])
    parser.add_argument(
        "--class", dest="classes", nargs="+", choices=correction_cases.CLASSES, default=correction_cases.CLASSES
    )
    parser.add_argument("--shortlist", type=int, default=correction_cases.SETTINGS["shortlist"])
    parser.add_argument("--json", action="store_true", help="every outcome, as JSON")
    parser.add_argument("--show", action="store_true", help="list what is not as it must be")
    return parser.parse_args()


def runs(classes: Sequence[str], strategy: str) -> Iterator[tuple[Case, bool]]:
    for case in correction_cases.cases():
        if case.kind in classes:
            yield case, False
            if case.kind == "web" and strategy != "agent":  # it searches the corpus alone
                yield case, True


def outcome(engine: IterativeRAG, llm: CaseFollowingLLM | None, strategy: str, case: Case, *, web: bool) -> Outcome:
    if llm:
        llm.script = case.script
    began = time.monotonic()
    steps: list[Step] = list(engine.steps(case.question, strategy=strategy))
    answer = final(steps)
    return Outcome(
        strategy=strategy,
        id=case.id,
        kind=case.kind,
        lang=case.lang,
        web=web,
        right=correction_cases.right(case, answer, web=web),
        failings=tuple(correction_cases.failings(case, answer, steps, web=web)),
        status=answer.status.value,
        short_answer=answer.short_answer,
        confidence=answer.confidence,
        calls=answer.usage.llm_calls,
        seconds=round(time.monotonic() - began, 3),
    )


def final(steps: Sequence[Step]) -> Answer:
    last = steps[-1]
    assert isinstance(last, FinalStep)
    return last.answer


def report(name: str, outcomes: Sequence[Outcome], *, show: bool) -> None:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[f"{one.kind} (web on)" if one.web else one.kind].append(one)
    for one in outcomes:
        groups[f"language {one.lang}"].append(one)
    groups["all"] = list(outcomes)
    print(f"\n{name:<22}{'cases':>7}{'right':>7}{'all shown':>11}{'wrong':>7}{'gave up':>9}{'calls':>8}{'seconds':>9}")
    for group, members in groups.items():
        answered = [one for one in members if one.status == Status.ANSWERED.value]
        row = (
            len(members),
            sum(one.right for one in members),
            sum(not one.failings for one in members),
            sum(not one.right for one in answered),
            sum(not one.right for one in members) - sum(not one.right for one in answered),
        )
        calls = sum(one.calls for one in members) / len(members)
        seconds = sum(one.seconds for one in members) / len(members)
        print(f"{group:<22}{row[0]:>7}{row[1]:>7}{row[2]:>11}{row[3]:>7}{row[4]:>9}{calls:>8.1f}{seconds:>9.2f}")
    if show:
        for one in outcomes:
            for failing in one.failings:
                print(f"  {one.id}{' (web on)' if one.web else ''}: {failing[:150]} [{one.confidence:.2f}]")


if __name__ == "__main__":
    main()
