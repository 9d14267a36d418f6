"""Processes that are killed: nothing acknowledged is lost, and the same command goes on."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from contextlib import closing
from typing import Any

from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, LLM, Bench, Home, Result, Running
from scripts.bench.reliability.servers import ModelServer


def index_kills(bench: Bench) -> Result:
    """Indexing that was killed again and again comes to the points of an uninterrupted one: ids, payloads, vectors."""
    wanted, texts, chance = bench.small(50, 6), bench.folder / "texts.jsonl", random.Random(bench.seed)
    with texts.open("w", encoding="utf-8") as file:
        for n in range(bench.small(6000, 1500)):
            text = places.town_article(n % 400, n // 400 % 2) + f" Entry {n} of the harbour book. " * 8
            file.write(json.dumps({"title": f"Entry {n}", "text": text}) + "\n")
    command = ("index", str(texts), "--corpus", CORPUS, "-q")
    fresh, home, kills = bench.home("fresh"), bench.home("killed"), 0
    while kills < wanted:
        running = home.start(*command)
        if _ends_within(running, chance.uniform(0.3, 4.0)):
            return Result(f"finished after {kills} kills: it takes more texts", False)
        running.kill()
        kills += 1
    for done in (home.run(*command, seconds=900), fresh.run(*command, seconds=900)):
        if done.code:
            return Result(f"exit {done.code}: {done.err[-200:]}", False)
    killed, whole = _points(home), _points(fresh)
    differing = sum(killed.get(key) != whole.get(key) for key in killed.keys() | whole.keys())
    return Result(f"{kills} kills, {len(whole)} points, {differing} differ", not differing and bool(whole))


def _points(home: Home) -> dict[str, tuple[object, ...]]:
    """Every point of the newest state of the index: payload, dense vector and BM25 weights."""
    from qdrant_edge import EdgeShard, ScrollRequest

    shards = [path.parent for path in (home.folder / "corpora" / CORPUS).rglob("segments")]
    shard = EdgeShard.load(str(max(shards, key=lambda path: path.stat().st_mtime)))
    with closing(shard):
        records, _ = shard.scroll(ScrollRequest(limit=10_000_000, with_payload=True, with_vector=True))
    found: dict[str, tuple[object, ...]] = {}
    for record in records:
        vector: Any = record.vector
        sparse = (tuple(vector["bm25"].indices), tuple(vector["bm25"].values))
        found[str(record.id)] = (json.dumps(record.payload, sort_keys=True), tuple(vector["dense"]), sparse)
    return found


def evaluate_kills(bench: Bench) -> Result:
    """No finished question of a killed run is asked again, none is lost, and the scores are those of a whole run."""
    wanted, chance, home = bench.small(20, 3), random.Random(bench.seed), bench.library("evaluate-kills", 40)
    places.write_questions(home.working / "questions.jsonl", 6)
    base = ("evaluate", "run", "--dataset", "questions.jsonl", "--corpus", CORPUS, "--llm", LLM, "--no-cache", "-q")
    kills = again = lost = unlike = runs = 0
    with ModelServer(latency=0.05) as server:
        if (done := home.run(*base, "--out", "whole", server=server)).code:
            return Result(f"exit {done.code}: {done.err[-200:]}", False)
        whole = _records(home, "whole")
        while kills < wanted:
            runs, finished, killed = runs + 1, dict[str, int](), True
            while killed:
                running = home.start(*base, "--out", f"run{runs}", "-c", "2", server=server)
                killed = kills < wanted and not _ends_within(running, chance.uniform(1.0, 4.0))
                if killed:
                    running.kill()
                running.wait(120)
                kills, kept, worked = kills + killed, _records(home, f"run{runs}"), _worked(home)
                again += sum(worked[question] - times for question, times in finished.items())
                lost += len(finished.keys() - kept.keys())
                finished = {question: worked[question] for question in kept}
            unlike += kept != whole
    figures = (
        f"{kills} kills in {runs} runs of {len(whole)} questions: {again} finished ones asked again, {lost} lost, "
    )
    return Result(f"{figures}{unlike} runs with other scores", not (again or lost or unlike))


def _ends_within(running: Running, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while running.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    return running.poll() is not None


def _records(home: Home, out: str) -> dict[str, object]:
    """What the run holds of each question."""
    from iterative_rag.evaluation.running.run_folder import read_manifest, read_run

    folder = home.working / out
    records = read_run(folder).records if read_manifest(folder) else ()
    return {one.question: (one.short_answer, one.outcome, one.scores) for one in records}


def _worked(home: Home) -> Counter[str]:
    """How often each question was worked on to its end, by the traces."""
    counts: Counter[str] = Counter()
    for trace in (home.folder / "traces" / "evaluation").glob("*.jsonl"):
        lines = trace.read_text(encoding="utf-8").splitlines()
        if lines and lines[-1].endswith("}") and json.loads(lines[-1])["event"] == "final":
            counts[json.loads(lines[0])["question"]] += 1
    return counts
