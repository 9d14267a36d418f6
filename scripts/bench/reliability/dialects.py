"""The README's question, asked of a model behind every server of `fakes/`: how replies travel, how JSON is taken.

    python -m scripts.bench.reliability.dialects        # one line each: its name, how it ended, calls

Run in a process and a data folder of its own (ITERATIVE_RAG_HOME).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from fakes import starter_mind
from fakes.reply_wires import FAULTS, OLLAMA, OPENAI, WIRES, WireServer
from fakes.server_dialects import DIALECTS, DialectServer
from scripts.bench.reliability.bench import Bench, Result, share
from scripts.bench.reliability.faults import listed

SECONDS = 120.0  # for one question


def dialects(bench: Bench) -> Result:
    """Every reply answers, and every error is told in the server's words."""
    done = bench.home("dialects").run(module="scripts.bench.reliability.dialects", seconds=580)
    rows = [line.split("\t") for line in done.out.splitlines() if line.count("\t") == 3]
    wrong = [f"{name}: {ending}" for name, ok, ending, _ in rows if ok != "ok"]
    figures = f"{share(len(rows) - len(wrong), len(rows))} of the dialects as they should be{listed(wrong)}"
    return Result(figures if not done.code else f"exit {done.code}: {done.err[-300:]}", not done.code and not wrong)


def main() -> None:
    for name, ok, ending, calls in rows():
        print(name, "ok" if ok else "missed", ending, f"{calls} calls", sep="\t", flush=True)


def rows() -> Iterator[tuple[str, bool, str, int]]:
    for kind, wires in WIRES.items():
        for name, wire in wires.items():
            with WireServer(wire, starter_mind.reply) as server:
                ending = _ended(kind, server.url)
                yield f"{kind}: {name}", ending == starter_mind.ANSWER, ending, len(server.bodies)
    for name, fault in FAULTS.items():
        with WireServer(fault.sent, starter_mind.reply) as server:
            ending = _ended(OPENAI, server.url)
            yield f"fault: {name}", fault.words in ending and "Error" in ending, ending, len(server.bodies)
    for dialect in DIALECTS:
        with DialectServer(dialect, mind=starter_mind.reply) as spoken:
            ending = _ended(OPENAI, spoken.url)
            yield f"server: {dialect.name}", ending == starter_mind.ANSWER, ending, len(spoken.bodies)


def _ended(kind: str, url: str) -> str:
    """The short answer, or what was raised."""
    from iterative_rag import IterativeRAG
    from iterative_rag.errors import IterativeRAGError

    os.environ["OLLAMA_HOST"] = url
    spec = "ollama/tiny" if kind == OLLAMA else f"openai-like/tiny@{url}/v1"
    rag = IterativeRAG.from_settings(llm=spec, cache=False, retries=1, max_seconds=SECONDS)
    try:
        answer = rag.ask(starter_mind.QUESTION)
    except IterativeRAGError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        rag.close()
    return answer.short_answer or f"{answer.status}: {answer.reason}"


if __name__ == "__main__":
    main()
