"""The constructed suite of evaluation/corrections: with a scripted model, a weak one, or the built-in backend.

    python -m scripts.bench.corrections suite [--backend builtin] [--strategies naive,full] [--kinds web] [--show]
    python -m scripts.bench.corrections weak [--strategies iterative,full] [--seeds 3] [--share 0.3] [--show]

The corpus is indexed into a temporary home. Each case is asked without the web; those of the class web once more with a
stand-in engine on loopback. `right` is the answer, or the abstention where there is none to be had; `all shown` besides
everything else that the case must show (conflict, computation, premise, page cited, correction); `wrong` an answer that
is not right; `gave up` an abstention where an answer was to be had; `unproved` an answer with a name or number that
stands in none of its quotes, in no computation and not in the question; `crashed` an error in place of an answer.
`weak` asks each case of the same mind, of which a share of the replies breaks a rule (fakes/weak_model.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from fakes import correction_cases
from fakes.correction_cases import Case
from fakes.script_mind import ScriptMind
from fakes.weak_model import WeakModel
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.errors import IterativeRAGError
from iterative_rag.settings import Settings, load_settings
from iterative_rag.types import FinalStep, Status
from scripts.bench import harness


@dataclass(frozen=True)
class Outcome:
    """What came of one case; `failings` say what it does not show."""

    strategy: str
    id: str
    kind: str
    lang: str
    web: bool
    right: bool = False
    failings: tuple[str, ...] = ()
    status: str = "crashed"
    short_answer: str = ""
    confidence: float = 0.0
    calls: int = 0
    unproved: bool = False
    seconds: float = 0.0


@contextmanager
def indexed(**forced: object) -> Iterator[Settings]:
    with harness.own_home():
        settings = load_settings({**correction_cases.SETTINGS, "llm": "builtin", **forced})
        index_paths([correction_cases.CORPUS], settings=settings, corpus=correction_cases.NAME)
        yield settings


def suite(
    backend: str = "scripted", strategies: str = "full", kinds: str = "", json: bool = False, show: bool = False
) -> None:
    """By class and language, what came out."""
    forced = correction_cases.READ_AS_ENGLISH if backend == "builtin" else {}
    with indexed(**forced) as settings, correction_cases.open_web() as allowed:
        mind = ScriptMind() if backend == "scripted" else None
        engine = IterativeRAG.from_settings(settings, llm=mind.llm if mind else "builtin")
        with_web = engine.over(engine.corpus, **allowed)
        outcomes = [
            outcome(with_web if web else engine, mind, name, case, web=web)
            for name in strategies.split(",")
            for case, web in runs(kinds, name)
        ]
        engine.close()
    if json:
        harness.show([asdict(one) for one in outcomes], as_json=True)
        return
    for name in strategies.split(","):
        print(f"\n{name}\n")
        report([one for one in outcomes if one.strategy == name], show=show)


def weak(strategies: str = "iterative,full", seeds: int = 3, share: float = 0.3, show: bool = False) -> None:
    """What a weak model costs: the same cases with a good mind and with a share of its replies broken."""
    with indexed() as settings:
        mind = ScriptMind()
        for name in strategies.split(","):
            minds = {"good": mind.llm} | {f"weak {n}": WeakModel(mind.llm, share=share, seed=n) for n in range(seeds)}
            for told, llm in minds.items():
                engine = IterativeRAG.from_settings(settings, llm=llm)
                outcomes = [outcome(engine, mind, name, case, web=False) for case in correction_cases.cases()]
                engine.close()
                print(f"\n{name}, {told}\n")
                harness.show([figures("all", outcomes)])
                if isinstance(llm, WeakModel):
                    kinds = ", ".join(f"{rule} {count}" for rule, count in llm.broken.most_common())
                    print(f"broken: {sum(llm.broken.values())} of {llm.calls} ({kinds})")
                for one in outcomes if show else ():
                    if not one.right or one.unproved:
                        print(f"  {one.id}{' UNPROVED' * one.unproved}: {one.status} {one.short_answer!r}")


def runs(kinds: str, strategy: str) -> Iterator[tuple[Case, bool]]:
    for case in correction_cases.cases():
        if case.kind in (kinds or case.kind).split(","):
            yield case, False
            if case.kind == "web" and strategy != "agent":  # it searches the corpus alone
                yield case, True


def outcome(engine: IterativeRAG, mind: ScriptMind | None, strategy: str, case: Case, *, web: bool) -> Outcome:
    if mind:
        mind.scripts = (case.script,)
    began = time.monotonic()
    crashed = Outcome(strategy, case.id, case.kind, case.lang, web)
    try:
        steps = list(engine.steps(case.question, strategy=strategy))
    except IterativeRAGError as error:
        return replace(crashed, failings=(f"{type(error).__name__}: {error}",), seconds=time.monotonic() - began)
    last = steps[-1]
    assert isinstance(last, FinalStep)
    answer = last.answer
    return replace(
        crashed,
        right=correction_cases.right(case, answer, web=web),
        failings=tuple(correction_cases.failings(case, answer, steps, web=web)),
        status=answer.status.value,
        short_answer=answer.short_answer,
        confidence=answer.confidence,
        calls=answer.usage.llm_calls,
        unproved=answer.status is Status.ANSWERED and correction_cases.unproved_answer(answer),
        seconds=time.monotonic() - began,
    )


def report(outcomes: Sequence[Outcome], *, show: bool) -> None:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(f"{one.kind} (web on)" if one.web else one.kind, []).append(one)
    for one in outcomes:
        groups.setdefault(f"language {one.lang}", []).append(one)
    groups["all"] = list(outcomes)
    harness.show(figures(name, members) for name, members in groups.items())
    for one in outcomes if show else ():
        for failing in one.failings:
            print(f"  {one.id}{' (web on)' if one.web else ''}: {failing[:150]} [{one.confidence:.2f}]")


def figures(name: str, outcomes: Sequence[Outcome]) -> Mapping[str, object]:
    wrong = sum(not one.right for one in outcomes if one.status == Status.ANSWERED.value)
    crashed = sum(one.status == "crashed" for one in outcomes)
    return {
        "group": name,
        "cases": len(outcomes),
        "right": sum(one.right for one in outcomes),
        "all shown": sum(not one.failings for one in outcomes),
        "wrong": wrong,
        "gave up": sum(not one.right for one in outcomes) - wrong - crashed,
        "unproved": sum(one.unproved for one in outcomes),
        "crashed": crashed,
        "calls": sum(one.calls for one in outcomes) / len(outcomes),
        "seconds": sum(one.seconds for one in outcomes) / len(outcomes),
    }


if __name__ == "__main__":
    harness.run(suite, weak)
