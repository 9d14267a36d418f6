"""What becomes of faults, of many questions at once and of readers while another process writes: a table of targets.

    python -m scripts.bench.reliability [--quick] [--only NAME,NAME]

The questions are those of the invented bridges; the model's server is a stand-in on loopback that fails as it is told.
Each target prints its figures, and ok or missed; the exit code is 1 if any is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fakes import bridge_world
from fakes.bridge_world import Place
from fakes.broken_replies import Faults
from fakes.model_server import FakeServer, Fault
from iterative_rag import registry
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.errors import IterativeRAGError
from iterative_rag.settings import load_settings
from scripts.bench import harness

CORPUS = "bridges"
RIGHT_SHARE = 0.97
AT_ONCE = 128  # calls that a server must see at the same time where as many questions are asked
Ending = tuple[str, bool]  # the answer's status, or the name of the error; whether it is the place's own mayor

Verdict = tuple[str, bool]  # figures, and whether the aim was reached


def reliability(quick: bool = False, only: str = "") -> None:
    """`quick`: smaller counts; `only`: names of targets."""
    wanted = [name for name in only.split(",") if name] or list(TARGETS)
    if unknown := [name for name in wanted if name not in TARGETS]:
        sys.exit(f"There is no target {unknown[0]!r}. They are: {', '.join(TARGETS)}.")
    missed = 0
    with harness.own_home() as folder:
        world = bridge_world.places(32 if quick else 160)
        bridge_world.write_articles(folder / "articles", world)
        index_paths([folder / "articles"], settings=load_settings({"llm": "builtin"}), corpus=CORPUS)
        for name in wanted:
            began = time.monotonic()
            figures, reached = TARGETS[name](world, folder)
            missed += not reached
            print(
                f"{name:<16} {'ok' if reached else 'missed':<8} {figures} ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
    sys.exit(1 if missed else 0)


def asked(
    server: FakeServer, questions: Sequence[tuple[str, str]], strategy: str, threads: int, retries: int = 4
) -> list[Ending]:
    """How each question ends; anything but an error of the package's own is raised."""
    os.environ["OLLAMA_HOST"] = server.url
    rag = IterativeRAG.from_settings(llm="ollama/tiny:8b", corpus=CORPUS, cache=False, retries=retries)

    def ask(question: tuple[str, str]) -> Ending:
        try:
            answer = rag.ask(question[0], strategy=strategy)
        except IterativeRAGError as error:
            return type(error).__name__, False
        proved = any(question[1] in citation.quote for citation in answer.citations)
        return str(answer.status), proved and answer.short_answer == question[1]

    with ThreadPoolExecutor(threads) as pool:
        endings = list(pool.map(ask, questions))
    rag.close()
    return endings


def told(endings: Sequence[Ending]) -> str:
    """How many are right, and how the others ended."""
    others = Counter(status for status, right in endings if not right)
    right = harness.share([right for _, right in endings])
    return f"{right} right{''.join(f', {count} {status}' for status, count in others.most_common())}"


def two_hops(world: Sequence[Place]) -> list[tuple[str, str]]:
    return [(place.two_hops, place.mayor) for place in world]


# --- the targets -----------------------------------------------------------------------------


def cross_talk(world: Sequence[Place], folder: Path) -> Verdict:
    """All at once on one object: each question gets its own answer, and no call waits for a connection."""
    with FakeServer(reply=bridge_world.reply, latency=1.0) as server:
        endings = asked(server, two_hops(world), "iterative", len(world))
    figures = f"{told(endings)}; {server.peak} calls at once"
    return figures, all(right for _, right in endings) and server.peak >= min(AT_ONCE, len(world))


def with_faults(kind: str, share: float) -> Callable[[Sequence[Place], Path], Verdict]:
    """A share of all calls fails, or of all replies is broken: hardly a question is lost, and none answered wrongly."""

    def target(world: Sequence[Place], folder: Path) -> Verdict:
        faults = Faults(kind, share, seed=1)
        with FakeServer(reply=faults.reply, fault_of=faults.status) as server:
            endings = asked(server, two_hops(world), "iterative", 8)
        right = sum(right for _, right in endings)
        wrong = sum(status in ("answered", "abstained") and not right for status, right in endings)
        return f"{told(endings)}; {faults.made.total()} faults", not wrong and right >= RIGHT_SHARE * len(endings)

    return target


def all_faults(world: Sequence[Place], folder: Path) -> Verdict:
    """Every call fails in the same way, by every strategy: never an answer, never an abstention."""
    kinds = (Fault("status", 500), Fault("status", 503), Fault("drop"), Fault("cut"), Fault("broken"), Fault("error"))
    endings: list[Ending] = []
    for fault in kinds:
        with FakeServer(always=fault) as server:
            for strategy in registry.STRATEGIES.offered:
                endings += asked(server, [(world[0].one_hop, world[0].mayor)], strategy, 1, retries=0)
    return told(endings), not any(status in ("answered", "abstained") for status, _ in endings)


def readers(world: Sequence[Place], folder: Path) -> Verdict:
    """Many processes open a corpus at once while another brings it up to date again and again."""
    command = [sys.executable, "-m", "iterative_rag"]
    changing, kept = folder / "articles" / "Changing.md", world[: min(64, len(world))]
    searching = [
        subprocess.Popen(
            [*command, "search", place.one_hop, "--corpus", CORPUS, "--json", "-n", "5"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for place in kept
    ]
    writings, failed = 0, list[str]()
    while any(process.poll() is None for process in searching):
        changing.write_text(f"# Changing\n\nThis is version {writings}.\n", encoding="utf-8")
        written = subprocess.run(
            [*command, "index", str(folder / "articles"), "--corpus", CORPUS, "-q"], capture_output=True, text=True
        )
        failed += [written.stderr] if written.returncode else []
        writings += 1
    for place, process in zip(kept, searching, strict=True):
        out, err = process.communicate()
        failed += [] if process.returncode == 0 and place.mayor in out else [err or f"{place.town} was not found"]
    figures = f"{len(failed)} of {len(kept)} failed during {writings} writings"
    return figures + (f": {failed[0][-200:]}" if failed else ""), not failed


TARGETS: dict[str, Callable[[Sequence[Place], Path], Verdict]] = {
    "cross-talk": cross_talk,
    "some-faults": with_faults("status", 0.3),
    "broken-replies": with_faults("replies", 0.2),
    "all-faults": all_faults,
    "readers": readers,
}

if __name__ == "__main__":
    harness.run(reliability)
