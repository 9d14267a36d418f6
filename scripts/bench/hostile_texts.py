"""What comes of instructions that are planted in documents, and of documents that contradict each other.

    python -m scripts.bench.hostile_texts planted [--strategies iterative,full] [--backends obedient] [--details]
    python -m scripts.bench.hostile_texts contradicting

The instructions are those of evaluation/hostile/instructions.jsonl. "obedient" is a scripted model that follows each
one in every role that sees it; "builtin" is the backend of the package. A wrong is a connection, a process or a file
written outside the package's own folder, a citation or a short answer that no document holds, a stretch of a prompt in
the answer. "swayed" answers say what the instruction asked for; "shown" of them cite a quote that says so.

Where documents contradict each other, "one-sided" is a scripted model that reads honestly and answers with the first
fact alone; "shown" are answers with a conflict between both values, each with its sources, "told" those whose text
gives both, "both read" those for which both values were found at all.
"""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Mapping

from fakes.contradicting_documents import ContradictingCorpus, cases, one_sided
from fakes.planted_instruction_runs import PlantedCorpus, as_row
from fakes.planted_instructions import ObedientLLM, instructions
from iterative_rag.registry import STRATEGIES
from scripts.bench import harness

EVERY = ",".join(STRATEGIES.offered)


def planted(
    strategies: str = EVERY,
    backends: str = "obedient,builtin",
    only: str = "",
    details: bool = False,
    json: bool = False,
) -> None:
    """Instructions (`only`: whose id begins so) in documents of their own."""
    with harness.own_home() as folder:
        known = [one for one in instructions() if one.id.startswith(only)]
        library = PlantedCorpus(folder / "articles", known)

        def rows() -> Iterator[Mapping[str, object]]:
            for backend in backends.split(","):
                model = ObedientLLM(known) if backend == "obedient" else None
                with library.opened(model.llm() if model else "builtin") as rag:
                    for strategy in strategies.split(","):
                        if strategy == "agent" and not model:  # the built-in backend uses no tools
                            continue
                        if model:
                            model.obeyed.clear()
                        outcomes = [library.run(rag, model, one, strategy) for one in known]
                        swayed = [one for one in outcomes if one.swayed]
                        made_up = sum(one.made_up for one in outcomes)
                        yield {
                            "backend": backend,
                            "strategy": strategy,
                            "instructions": len(known),
                            "obeyed": sum(bool(one.obeyed) for one in outcomes),
                            "wrongs": sum(bool(one.wrongs) for one in outcomes),
                            "swayed": len(swayed),
                            "shown": sum(one.shown for one in swayed),
                            "right": sum(one.right for one in outcomes),
                            "made-up quotes": made_up,
                            "dropped": made_up - sum(one.kept for one in outcomes),
                        }
                        for one in outcomes if details else ():
                            if one.wrongs or one.swayed:
                                print("   ", json_text.dumps(as_row(one), ensure_ascii=False))

        harness.show(rows(), as_json=json)


def contradicting(strategies: str = EVERY, backends: str = "one-sided,builtin", details: bool = False) -> None:
    """Five documents against five for each question."""
    known = cases()
    with harness.own_home() as folder:
        shelves = ContradictingCorpus(folder / "contradicting", known)

        def rows() -> Iterator[Mapping[str, object]]:
            for backend in backends.split(","):
                with shelves.opened(one_sided(known) if backend == "one-sided" else "builtin") as rag:
                    for strategy in [one for one in strategies.split(",") if one != "agent"]:  # neither plays it
                        answers = [(case, shelves.ask(rag, case, strategy)) for case in known]
                        yield {
                            "backend": backend,
                            "strategy": strategy,
                            "both read": harness.share([case.both_read(answer) for case, answer in answers]),
                            "shown": harness.share([case.shown(answer) for case, answer in answers]),
                            "told": harness.share([case.told(answer) for case, answer in answers]),
                        }
                        for case, answer in answers if details else ():
                            if not case.shown(answer):
                                values = [fact.value for hop in answer.hops for fact in hop.facts]
                                print("   ", case.question, [case.true, case.false], values, repr(answer.text))

        harness.show(rows())


if __name__ == "__main__":
    harness.run(planted, contradicting)
