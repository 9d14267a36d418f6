"""Two hard days of `evaluate run`, as real processes: it is killed at random, and its server fails. Run by hand.

    python scripts/bench_evaluate.py kills --kills 50
    python scripts/bench_evaluate.py faults --questions 32 --share 0.3 --latency 0.2

The questions are invented; a local server plays the model and answers from each prompt alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import bridge_world
from fakes.model_server import FakeServer, Fault
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.evaluation.running.run_folder import read_manifest, read_run

ROOT = Path(__file__).resolve().parent.parent
MODEL = "ollama/tiny:1b"


class Bench:
    """A folder with articles, questions and a data folder of its own, and the commands that run there."""

    def __init__(self, folder: Path, questions: int) -> None:
        self.folder, self.questions = folder, questions
        world = bridge_world.places(questions)
        bridge_world.write_articles(folder / "articles", world)
        bridge_world.write_questions(folder / "questions.jsonl", world)
        self.environment = {**os.environ, "ITERATIVE_RAG_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
        subprocess.run(self.command("index", "articles", "-q", "--corpus", "places"), **self.where(), check=True)

    def where(self, **environment: str) -> dict[str, Any]:
        return {
            "cwd": self.folder,
            "env": {**self.environment, **environment},
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "iterative_rag", *arguments]

    def run(self, out: str, *options: str) -> list[str]:
        base = ("evaluate", "run", "--dataset", "questions.jsonl", "--corpus", "places", "--out", out, "-q")
        return self.command(*base, "--llm", MODEL, "--no-cache", *options)

    def records(self, out: str) -> tuple[QuestionRecord, ...]:
        folder = self.folder / out
        return read_run(folder).records if read_manifest(folder) else ()

    def answers_more(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait until a trace begins that was not there before; False if the process ends first."""
        traces = self.folder / "home" / "traces" / "evaluation"
        before = len(list(traces.glob("*")))
        while process.poll() is None:
            if len(list(traces.glob("*"))) > before:
                return True
            time.sleep(0.01)
        return False

    def worked(self) -> Counter[str]:
        """How often each question was worked on to its end, by the traces."""
        counts: Counter[str] = Counter()
        for trace in (self.folder / "home" / "traces" / "evaluation").glob("*.jsonl"):
            lines = trace.read_text(encoding="utf-8").splitlines()
            if lines and lines[-1].endswith("}") and json.loads(lines[-1])["event"] == "final":
                counts[json.loads(lines[0])["question"]] += 1
        return counts


def kills(arguments: argparse.Namespace) -> bool:
    """Runs of a few questions, each killed again and again until it is through; fresh runs until the kills are used."""
    chance = random.Random(arguments.seed)
    killed = runs = rerun = doubled = lost = unlike = window = 0
    with (
        tempfile.TemporaryDirectory() as base,
        FakeServer(reply=bridge_world.reply, latency=arguments.latency) as server,
    ):
        bench = Bench(Path(base), arguments.questions)
        where = bench.where(OLLAMA_HOST=server.url)
        subprocess.run(bench.run("whole"), **where, check=True)
        seconds_each = bench.records("whole")[0].spent.seconds
        whole = [(one.id, one.short_answer, one.outcome, one.scores) for one in bench.records("whole")]
        while killed < arguments.kills:
            runs += 1
            out, before, finished, at_kill = f"run{runs}", bench.worked(), 0, dict[str, int]()
            while True:
                process = subprocess.Popen(bench.run(out, "-c", "2"), **where)
                if killed < arguments.kills and bench.answers_more(process):
                    time.sleep(chance.uniform(0, 2 * seconds_each))
                else:
                    process.wait()
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
                kept = {one.question for one in bench.records(out)}
                lost += max(0, finished - len(kept))
                finished = len(kept)
                worked = bench.worked() - before
                at_kill = {question: worked[question] for question in kept}
                print(f"\r{killed} kills, run {runs}, {finished} kept", end="", flush=True)
            after = bench.worked() - before
            rerun += sum(after[question] - count for question, count in at_kill.items())
            window += sum(count - 1 for count in after.values())
            records = bench.records(out)
            doubled += len(records) - len({one.id for one in records})
            unlike += [(one.id, one.short_answer, one.outcome, one.scores) for one in records] != whole
    print(
        f"\r{killed} kills in {runs} runs of {arguments.questions} questions: {rerun} finished questions run again, "
        f"{doubled} doubled, {lost} lost, {unlike} runs with other scores than an uninterrupted one; "
        f"{window} questions were answered and killed before they were on disk, and asked again"
    )
    return not (rerun or doubled or lost or unlike)


def faults(arguments: argparse.Namespace) -> bool:
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as base:
        bench = Bench(Path(base), arguments.questions)
        with FakeServer(reply=bridge_world.reply, latency=arguments.latency) as calm:
            subprocess.run(bench.run("calm", "-c", "32"), **bench.where(OLLAMA_HOST=calm.url), check=True)
            needed = len(calm.calls("/api/chat"))
        turns = [
            Fault("status", chance.choice((500, 503))) if chance.random() < arguments.share else None
            for _ in range(50 * needed)
        ]
        with FakeServer(reply=bridge_world.reply, latency=arguments.latency, faults=deque(turns)) as server:
            begun = time.monotonic()
            subprocess.run(bench.run("out", "-c", "32"), **bench.where(OLLAMA_HOST=server.url), check=True)
            seconds = time.monotonic() - begun
            made = len(server.calls("/api/chat"))
        records = bench.records("out")
    own = sum(one.short_answer == one.answers[0] for one in records)
    failed = sum(bool(one.fault) for one in records)
    print(
        f"{len(records)} of {arguments.questions} questions finished in {seconds:.1f} s, {failed} with a fault, {own} "
        f"with their own answer; {made} calls where {needed} are needed: {made / needed:.2f} times"
    )
    return own == arguments.questions and made <= 1.5 * needed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for function, questions, latency in ((kills, 6, 0.05), (faults, 32, 0.2)):
        one = commands.add_parser(function.__name__)
        one.add_argument("--questions", type=int, default=questions)
        one.add_argument("--latency", type=float, default=latency)
        one.add_argument("--seed", type=int, default=1)
        one.set_defaults(function=function)
        if function is kills:
            one.add_argument("--kills", type=int, default=50)
        else:
            one.add_argument("--share", type=float, default=0.3)
    arguments = parser.parse_args()
    sys.exit(0 if arguments.function(arguments) else 1)


if __name__ == "__main__":
    main()
