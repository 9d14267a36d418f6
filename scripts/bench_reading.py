"""How long reading takes against a server of fixed latency, and what stopping early saves. Run by hand.

    python scripts/bench_reading.py --latency 1.0

Reads 20 documents for one need through the real adapter over loopback HTTP: once with nothing to find early, once
with the answer in the first document.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.in_memory import MemoryCorpus
from fakes.model_server import FakeServer
from iterative_rag.cache import NoCache
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.providers.ollama import OllamaChat
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.need_reading import ReadingTask
from iterative_rag.settings import Settings
from iterative_rag.trace import Trace
from iterative_rag.types import Need, Window

COUNT, IN_FLIGHT = 20, 8
NEED = Need("Who keeps the lighthouse?")


def extraction(body: Mapping[str, Any]) -> str:
    """The document's first sentence as a fact, where it names the keeper."""
    text = body["messages"][-1]["content"]
    quote = next((line for line in text.splitlines() if "keeps the lighthouse" in line and "QUESTION" not in line), "")
    facts = [{"statement": quote, "quote": quote, "value": "Ada Orr"}] if quote else []
    return json.dumps({"facts": facts})


def measure(server: FakeServer, *, telling: int, limit: int) -> tuple[float, int, list[str]]:
    texts = {
        f"Document {n:02}": "Ada Orr keeps the lighthouse." if n < telling else "Nothing is said here."
        for n in range(COUNT)
    }
    windows = [Window(title, title, title, ((0, len(text)),), text) for title, text in texts.items()]
    settings = Settings(max_calls=1000)
    budget = RunBudget(settings, Trace("bench", []))
    backend = LLMBackend(OllamaChat("tiny:1b", settings, url=server.url), None, None, settings)
    reader = DocumentReader(
        MemoryCorpus(texts),
        backend.roles(budget).extractor,
        cache=NoCache(),
        fact_limit=limit,
        in_flight=IN_FLIGHT,
        on_hit=lambda what: None,
    )
    server.seen.clear()
    begun = time.monotonic()
    (reading,) = reader.read([ReadingTask(NEED, windows)])
    return time.monotonic() - begun, len(server.calls("/api/chat")), sorted({fact.value for fact in reading.facts})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the server takes for each reply")
    latency = parser.parse_args().latency
    with FakeServer(reply=extraction, latency=latency) as server:
        measure(server, telling=0, limit=1)  # the first call imports the client
        full, calls, _ = measure(server, telling=0, limit=3)
        ideal = math.ceil(COUNT / IN_FLIGHT) * latency
        print(f"all {COUNT}: {calls} calls in {full:.2f} s = {full / ideal:.2f} x {ideal:g} s")
        for name, telling, limit in (("one fact asked, found first", 1, 1), ("a value found, nothing more", 1, 3)):
            seconds, calls, values = measure(server, telling=telling, limit=limit)
            print(f"{name}: {calls} calls ({calls / COUNT:.0%}) in {seconds:.2f} s, {values}")


if __name__ == "__main__":
    main()
