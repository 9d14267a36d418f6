"""Measures what faults of the model's server cost: generated two-hop questions, put to a loopback server that plays an
honest model, without faults and then with a share of them.

    python scripts/bench_faults.py --questions 200
    python scripts/bench_faults.py --questions 200 --faults replies --share 0.2 --seed 7

`replies`: that share of all replies is broken, in one of the ways of `fakes/broken_replies.py`. `status`: that share of
all requests is answered with 500 or 503. A question ends right if it is answered with the right name; every other end
is counted by its status, and a wrong answer or an abstention is counted as the silent loss that there must not be.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import bridge_world
from fakes.bridge_world import Place
from fakes.broken_replies import Faults
from fakes.model_server import FakeServer
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.errors import IterativeRAGError
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings, load_settings
from iterative_rag.types import Status


@dataclass(frozen=True)
class Outcome:
    """How a question ended: "right", "wrong", a status, or the name of an error."""

    place: Place
    ended: str
    calls: int
    seconds: float
    reason: str = ""


@contextmanager
def world(folder: Path, count: int) -> Iterator[list[Place]]:
    """A home below `folder` with an index of `count` places, which are yielded; `ITERATIVE_RAG_HOME` points to it."""
    places = bridge_world.places(count)
    with patch.dict(os.environ, {"ITERATIVE_RAG_HOME": str(folder / "home")}):
        bridge_world.write_articles(folder / "articles", places)
        index_paths([folder / "articles"], settings=Settings(), corpus="bridges")
        yield places


def measure(
    places: Sequence[Place],
    faults: Faults,
    strategy: str = "iterative",
    *,
    at_once: int = 4,
    **settings: Any,
) -> list[Outcome]:
    """Every place's two-hop question once, over the indexed corpus "bridges", `at_once` in parallel."""
    with (
        FakeServer(reply=faults.reply, fault_of=faults.status) as server,
        patch.dict(os.environ, OLLAMA_HOST=server.url),
    ):
        chosen = load_settings({"llm": "ollama/tiny:1b", "corpus": "bridges", "cache": False, **settings})
        rag = IterativeRAG.from_settings(chosen)
        try:
            with ThreadPoolExecutor(at_once) as pool:
                return list(pool.map(lambda place: _asked(rag, place, strategy), places))
        finally:
            rag.close()


def _asked(rag: IterativeRAG, place: Place, strategy: str) -> Outcome:
    begun = time.monotonic()
    try:
        answer = rag.ask(place.two_hops, strategy=strategy)
    except IterativeRAGError as error:
        return Outcome(place, type(error).__name__, 0, time.monotonic() - begun, str(error))
    ended = str(answer.status)
    if answer.status is Status.ANSWERED:
        ended = "right" if answer.short_answer == place.mayor else "wrong"
    reason = answer.reason or answer.short_answer
    return Outcome(place, ended, answer.usage.llm_calls, time.monotonic() - begun, reason)


def row(name: str, outcomes: Sequence[Outcome], faults: Faults) -> str:
    """`20 % broken replies: 199 of 200 right (99.5 %), incomplete 1; 8.9 calls a question; 377 faults`"""
    ended = Counter(outcome.ended for outcome in outcomes)
    right = ended.pop("right", 0)
    rest = "".join(f", {what} {count}" for what, count in sorted(ended.items()))
    calls = sum(outcome.calls for outcome in outcomes) / len(outcomes)
    share = 100 * right / len(outcomes)
    made = sum(faults.made.values())
    return (
        f"{name}: {right} of {len(outcomes)} right ({share:.1f} %){rest}; {calls:.1f} calls a question; {made} faults"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200, help="200 at most")
    parser.add_argument("--faults", choices=("none", "replies", "status"), help="one kind alone; without it, all three")
    parser.add_argument("--share", type=float, help="of replies or requests (0.2 and 0.3 without it)")
    parser.add_argument("--strategy", default="iterative", choices=STRATEGIES.names)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4, help="questions in parallel")
    arguments = parser.parse_args()
    shares = {"none": 0.0, "replies": 0.2, "status": 0.3}
    chosen = [arguments.faults] if arguments.faults else list(shares)
    with tempfile.TemporaryDirectory() as folder, world(Path(folder), arguments.questions) as places:
        for kind in chosen:
            share = arguments.share if arguments.share is not None and kind != "none" else shares[kind]
            faults = Faults(kind, share, arguments.seed)
            outcomes = measure(places, faults, arguments.strategy, at_once=arguments.at_once)
            print(row(f"{100 * share:.0f} % {kind}", outcomes, faults), flush=True)
            for outcome in outcomes:
                if outcome.ended != "right":
                    print(f"  {outcome.ended}: {outcome.place.two_hops} {outcome.reason}")


if __name__ == "__main__":
    main()
