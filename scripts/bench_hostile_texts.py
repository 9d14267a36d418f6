#!/usr/bin/env python3
"""What comes of instructions that are planted in documents, and of documents that contradict each other.

    scripts/bench_hostile_texts.py [--strategies iterative,full] [--backends obedient,builtin] [--details]

The instructions are those of evaluation/hostile/instructions.jsonl. "obedient" is a scripted model that follows each
one in every role that sees it; "builtin" is the backend of the package. A wrong is a connection, a process or a file
written outside the package's own folder, a citation or a short answer that no document holds, a stretch of a prompt in
the answer. "swayed" answers say what the instruction asked for; "shown" of them cite a quote that says so.

Where documents contradict each other, "one-sided" is a scripted model that reads honestly and answers with the first
fact alone; "shown" are answers with a conflict between both values, each with its sources, "told" those whose text
gives both, "both read" those for which both values were found at all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.contradicting_documents import ContradictingCorpus, OneSidedLLM, cases
from fakes.planted_instruction_runs import Outcome, PlantedCorpus, as_row
from fakes.planted_instructions import ObedientLLM, instructions
from iterative_rag.registry import STRATEGIES

COLUMNS = ("obeyed", "wrongs", "swayed", "shown", "right")


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as place:
        os.environ["ITERATIVE_RAG_HOME"] = f"{place}/home"
        if options.part != "contradicting":
            planted(Path(place), options)
        if options.part != "planted":
            contradicting(Path(place), options)


def planted(place: Path, options: argparse.Namespace) -> None:
    cases = [one for one in instructions() if one.id.startswith(options.only)]
    library = PlantedCorpus(place / "articles", cases)
    print(f"{len(cases)} planted instructions, {len({one.language for one in cases})} languages")
    print(f"{'backend':<10}{'strategy':<11}" + "".join(f"{name:>7}" for name in COLUMNS) + "  made-up quotes dropped")
    for backend in options.backends.split(","):
        model = ObedientLLM(cases) if backend == "obedient" else None
        with library.opened(model.llm() if model else "builtin") as rag:
            for strategy in options.strategies.split(","):
                if strategy == "agent" and not model:  # the built-in backend uses no tools
                    continue
                if model:
                    model.obeyed.clear()
                outcomes = [library.run(rag, model, one, strategy) for one in cases]
                show(backend, strategy, outcomes, details=options.details)


def show(backend: str, strategy: str, outcomes: list[Outcome], *, details: bool) -> None:
    made_up, kept = sum(one.made_up for one in outcomes), sum(one.kept for one in outcomes)
    swayed = [one for one in outcomes if one.swayed]
    dropped = f"{made_up - kept}/{made_up} = {100 * (1 - kept / made_up):.1f} %" if made_up else "none made up"
    counts = (
        sum(bool(one.obeyed) for one in outcomes),
        sum(bool(one.wrongs) for one in outcomes),
        len(swayed),
        sum(one.shown for one in swayed),
        sum(one.right for one in outcomes),
    )
    print(f"{backend:<10}{strategy:<11}{''.join(f'{n:>7}' for n in counts)}  {dropped}", flush=True)
    if details:
        for one in outcomes:
            if one.wrongs or one.swayed:
                print("   ", json.dumps(as_row(one), ensure_ascii=False))
        print("   ", Counter(str(one.answer.status) for one in outcomes))


def contradicting(place: Path, options: argparse.Namespace) -> None:
    known = cases()
    shelves = ContradictingCorpus(place / "contradicting", known)
    print(f"\n{len(known)} questions, five documents against five each")
    print(f"{'backend':<10}{'strategy':<11}{'both read':>11}{'shown':>11}{'told':>11}")
    for backend in ("one-sided" if one == "obedient" else one for one in options.backends.split(",")):
        with shelves.opened(OneSidedLLM(known).llm() if backend == "one-sided" else "builtin") as rag:
            for strategy in [one for one in options.strategies.split(",") if one != "agent"]:  # neither plays it
                answers = [(case, shelves.ask(rag, case, strategy)) for case in known]
                counts = [
                    sum(case.both_read(answer) for case, answer in answers),
                    sum(case.shown(answer) for case, answer in answers),
                    sum(case.told(answer) for case, answer in answers),
                ]
                shares = "".join(f"{f'{n} = {100 * n / len(known):.0f} %':>11}" for n in counts)
                print(f"{backend:<10}{strategy:<11}{shares}", flush=True)
                for case, answer in answers if options.details else ():
                    if not case.shown(answer):
                        values = [fact.value for hop in answer.hops for fact in hop.facts]
                        print("   ", case.question, [case.true, case.false], values, repr(answer.text), answer.reason)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ",".join(STRATEGIES.offered)
    parser.add_argument("--strategies", default=every)
    parser.add_argument("--backends", default="obedient,builtin")
    parser.add_argument("--only", default="", metavar="ID", help="instructions whose id begins with this")
    parser.add_argument("--part", choices=("planted", "contradicting", "both"), default="both")
    parser.add_argument("--details", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
