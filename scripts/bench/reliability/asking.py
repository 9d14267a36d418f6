"""Many questions in one process through the Python API, so that what is measured is not the start of Python.

Run as a module it is that process: it reads what to ask from a file and prints one line of JSON a question.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, LLM, Home
from scripts.bench.reliability.servers import ModelServer

ANSWERED, ABSTAINED, INCOMPLETE = "answered", "abstained", "incomplete"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question ended. `status` is that of the answer, or the name of the error that was raised; `typed` says
    that it was one of the package's own. `cpu` are processor seconds of the whole process meanwhile, `queued` seconds
    for which its threads waited for a processor that others had."""

    n: int
    status: str
    short: str = ""
    reason: str = ""
    quotes: tuple[str, ...] = ()
    typed: bool = True
    code: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    queued: float = 0.0
    megabytes: float = 0.0
    strategy: str = ""

    @property
    def right(self) -> bool:
        """The place's own mayor, with the sentence that says it."""
        return (
            self.status == ANSWERED
            and self.short == places.mayor(self.n)
            and any(places.mayor_sentence(self.n) in quote for quote in self.quotes)
        )

    @property
    def wrong(self) -> bool:
        """An answer that is not so, or "the corpus does not hold it" though it does."""
        return self.status == ABSTAINED or (self.status == ANSWERED and not self.right)


class Died(RuntimeError):
    """The process that asked did not come to its end."""


def asked(
    home: Home,
    server: ModelServer,
    numbers: Sequence[int],
    *,
    direct: bool = False,
    threads: int = 8,
    seconds: float = 300.0,
    strategies: Sequence[str] = ("iterative",),
    **settings: Any,
) -> list[Outcome]:
    """Ask about these places, by each of the strategies. Raises Died."""
    spec = home.working / "asked.json"
    settings = {"llm": LLM, "corpus": CORPUS, "cache": False, **settings}
    asks = [(n, strategy) for strategy in strategies for n in numbers]
    plan = {"asks": asks, "direct": direct, "threads": threads, "settings": settings}
    spec.write_text(json.dumps(plan), encoding="utf-8")
    done = home.run(str(spec), module="scripts.bench.reliability.asking", server=server, seconds=seconds)
    rows = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    outcomes = [Outcome(**{**row, "quotes": tuple(row["quotes"])}) for row in rows]
    if done.code or len(outcomes) != len(asks):
        raise Died(f"{len(outcomes)} of {len(asks)} questions ended, exit code {done.code}: {done.err[-400:]}")
    return outcomes


# --- inside the process ----------------------------------------------------------------------


def main() -> None:
    from iterative_rag import IterativeRAG

    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rag = IterativeRAG.from_settings(**plan["settings"])
    lock = threading.Lock()

    def one(asked: tuple[int, str]) -> None:
        n, strategy = asked
        outcome = ask(rag, n, direct=plan["direct"], strategy=strategy)
        with lock:
            print(json.dumps(asdict(outcome)), flush=True)

    with ThreadPoolExecutor(plan["threads"]) as pool:
        list(pool.map(one, plan["asks"]))
    rag.close()


def ask(rag: Any, n: int, *, direct: bool, strategy: str = "iterative") -> Outcome:
    from iterative_rag.errors import IterativeRAGError

    question = places.direct_question(n) if direct else places.question(n)
    began, cpu, waited = time.monotonic(), time.process_time(), queued()

    def outcome(status: str, **more: Any) -> Outcome:
        spent = {"seconds": time.monotonic() - began, "cpu": time.process_time() - cpu}
        spent |= {"queued": queued() - waited, "megabytes": resident()}
        return Outcome(n, status, strategy=strategy, **{**more, **spent})

    try:
        answer = rag.ask(question, strategy=strategy)
    except IterativeRAGError as error:
        return outcome(type(error).__name__, reason=str(error), code=error.exit_code)
    except Exception as error:  # noqa: BLE001 - an error that is none of the package's own is what is looked for
        return outcome(type(error).__name__, reason=str(error), code=1, typed=False)
    quotes = tuple(citation.quote for citation in answer.citations)
    code = answer.fault.exit_code if answer.fault else 0
    return outcome(str(answer.status), short=answer.short_answer, reason=answer.reason, quotes=quotes, code=code)


def resident() -> float:
    """Megabytes that this process holds now."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found: Mapping[str, str] = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(found["VmRSS"].split()[0]) / 1024


def queued() -> float:
    """Seconds that the threads of this process have waited for a processor; 0 where the system does not tell."""
    total = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            total += int(path.read_text(encoding="ascii").split()[1])
    return total / 1e9


if __name__ == "__main__":
    main()
