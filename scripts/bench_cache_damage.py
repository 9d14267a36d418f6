"""Turns over random bits of the cache's file and asks again: do the answers stay, and does anything break?

    ./.venv/bin/python scripts/bench_cache_damage.py --flips 10000 --seed 0

Each round starts from a whole cache, turns over one bit (every fourth round 200 at once) and asks the same question.
One line at the end: rounds, bits, answers that changed, exceptions, rounds that had to call the model again.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.factory import IterativeRAG, index_paths
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import load_settings
from iterative_rag.types import Answer

QUESTION = "Who is the mayor of the town where the Sunday bridge stands?"
TEXTS = {
    "Sunday_bridge": "The Sunday bridge is a stone bridge in Aldermere. It crosses the river Wend.",
    "Aldermere": "Aldermere is a market town in the Vessel Isles. Its mayor is Edda Holm.",
}
FACTS = {"The Sunday bridge is a stone bridge in Aldermere.": "Aldermere", "Its mayor is Edda Holm.": "Edda Holm"}
BITS_AT_ONCE = 200


def analysis(request: ChatRequest) -> dict[str, object]:
    if "Its mayor is Edda Holm." in request.user:
        return {"status": "known", "needs": []}
    known = "stone bridge in Aldermere" in request.user
    need = "Who is the mayor of Aldermere?" if known else "In which town does the Sunday bridge stand?"
    return {"status": "needs", "needs": [need]}


def extraction(request: ChatRequest) -> dict[str, object]:
    found = [(quote, value) for quote, value in FACTS.items() if quote in request.user]
    return {"facts": [{"statement": quote, "quote": quote, "value": value} for quote, value in found]}


def answer(request: ChatRequest) -> dict[str, object]:
    text = "The mayor of Aldermere [1] is Edda Holm [2]."
    return {"status": "answered", "answer": text, "short_answer": "Edda Holm", "confidence": 0.9}


def said(given: Answer) -> tuple[object, ...]:
    return given.status, given.text, given.short_answer, given.citations, given.reason


def flip(path: Path, chance: random.Random, bits: int) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def engine(folder: Path) -> IterativeRAG:
    articles = folder / "articles"
    articles.mkdir()
    for title, text in TEXTS.items():
        (articles / f"{title}.md").write_text(f"# {title.replace('_', ' ')}\n\n{text}\n", encoding="utf-8")
    embedder = HashingEmbedder(64)
    index_paths([articles], settings=load_settings(), embedder=embedder)
    rephrasing = {"question": "Who is the mayor of Aldermere?"}
    roles: dict[str, Any] = {
        "analyse": analysis,
        "extract": extraction,
        "answer": answer,
        "rephrase": lambda request: rephrasing,
    }
    return IterativeRAG.from_settings(llm=ScriptedLLM(roles), embed_model=embedder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10_000, help="rounds")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.getLogger("iterative_rag").setLevel(logging.ERROR)
    chance = random.Random(options.seed)
    counts: Counter[str] = Counter()
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        os.environ["ITERATIVE_RAG_HOME"] = f"{name}/home"
        rag = engine(Path(name))
        expected = said(rag.ask(QUESTION))
        rag.store.close()
        cache, whole = Path(name, "home", "cache"), Path(name, "whole")
        shutil.copytree(cache, whole)
        for number in range(options.flips):
            rag.store.close()
            shutil.rmtree(cache)
            shutil.copytree(whole, cache)
            bits = 1 if number % 4 else BITS_AT_ONCE
            counts["bits"] += bits
            flip(cache / "cache.sqlite", chance, bits)
            try:
                given = rag.ask(QUESTION)
            except Exception as error:  # noqa: BLE001 - the figure that is measured
                counts[f"exception {type(error).__name__}: {error}"] += 1
                counts["exceptions"] += 1
                continue
            counts["changed"] += said(given) != expected
            counts["called again"] += given.usage.llm_calls > 0
        rag.close()
    seconds = time.process_time() - begun
    print(json.dumps({"rounds": options.flips, "changed": 0, "exceptions": 0, **counts, "cpu_seconds": round(seconds)}))
    return 1 if counts["changed"] or counts["exceptions"] else 0


if __name__ == "__main__":
    sys.exit(main())
