"""Measures the server: its first byte, many users at once, and its memory over many runs.

    .venv/bin/python -m scripts.bench_serve [--users 20] [--runs 1000]

The server is a process of its own with a scripted backend that takes 0.2 seconds for each call; the clients are threads
of this one. A step's way is the time from its event in the run to the client that has read it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

LATENCY = 0.2
_EVENTS = {"accept": "text/event-stream"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--users", type=int, default=20)
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--serve", metavar="LATENCY", type=float, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    with server(LATENCY) as (address, process):
        first_byte(address)
        for users in (1, given.users):
            before = processor_seconds(process)
            users_at_once(address, users)
            used = processor_seconds(process) - before
            print(f"  the server used {used:.1f} s of processor time and {memory(process):,.0f} MB")
        print(f"  load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with server(0.0) as (address, process):
        one_after_another(address, process, given.runs)


def serve(latency: float) -> None:
    """The server; it tells its address on stdout and ends with its stdin."""
    from fakes.running_server import PlayingLLM, running_server
    from iterative_rag.serve.server import SWITCH_SECONDS
    from iterative_rag.system.memory import limit_arenas

    limit_arenas()
    sys.setswitchinterval(SWITCH_SECONDS)
    llm = PlayingLLM(lambda request: time.sleep(latency))
    llm.keeps = False
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ITERATIVE_RAG_HOME"] = f"{folder}/home"
        limits: dict[str, Any] = {"runs_at_once": 20, "queue": 200, "runs_per_client": 200, "requests_per_client": 200}
        with running_server(Path(folder), backends={"scripted": llm}, **limits) as running:
            print(running.address, flush=True)
            sys.stdin.read()


@contextmanager
def server(latency: float) -> Iterator[tuple[str, int]]:
    """A server process: its address and its id."""
    command = [sys.executable, "-m", "scripts.bench_serve", "--serve", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
        process.stdin.close()
        process.wait(30)


def first_byte(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False) as client:
        for path in ("/", "/healthz", "/api/corpora"):
            taken = []
            for _ in range(30):
                began = time.perf_counter()
                with client.stream("GET", path) as response:
                    taken.append(time.perf_counter() - began)
                    size = len(response.read())
            print(f"first byte of {path} ({response.status_code}, {size:,} bytes): {told(taken)}")


def users_at_once(address: str, users: int) -> None:
    """Each asks a question of its own by the number in it, and must see its own steps alone."""
    ways: list[float] = []
    strangers: list[str] = []
    finished: list[float] = []
    together = threading.Barrier(users)

    def ask(number: int) -> None:
        question = f"Who is the mayor of the town where the Sunday bridge stands, asks user {number}?"
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            together.wait()
            began = time.perf_counter()
            with client.stream("POST", "/api/ask", json={"question": question}, headers=_EVENTS) as stream:
                for line in stream.iter_lines():
                    if not line.startswith("data: "):
                        continue
                    arrived, data = time.time(), json.loads(line.removeprefix("data: "))
                    ways.append(arrived - data["at"])
                    seen = data.get("answer", {}).get("question", "") or (data.get("hop") == 1 and data.get("question"))
                    if seen and seen != question:
                        strangers.append(line)
            finished.append(time.perf_counter() - began)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{users} users at once: {len(finished)} answered, {len(strangers)} steps of others; a run {told(finished)}")
    print(f"  a step's way to its client ({len(ways)} steps): {told(ways)}")


def one_after_another(address: str, process: int, runs: int) -> None:
    """Memory after the runs that are kept have filled their room, and at the end."""
    settled = before = 0.0
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        began = time.perf_counter()
        for number in range(1, runs + 1):
            question = f"Who is the mayor of the town where the Sunday bridge stands, in run {number}?"
            answered = client.post("/api/ask", json={"question": question})
            assert answered.status_code == 200, answered.text
            if number == 1:
                before = memory(process)
            if number == runs // 5:
                settled = memory(process)
        seconds = time.perf_counter() - began
    after = memory(process)
    print(f"{runs:,} runs one after another in {seconds:.0f} s: {before:,.1f} MB after the first,")
    print(f"  {settled:,.1f} MB after {runs // 5:,}, {after:,.1f} MB at the end: {after / settled - 1:+.1%}")


def memory(process: int) -> float:
    """The resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def processor_seconds(process: int) -> float:
    """What a process has used of all cores."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(seconds: list[float]) -> str:
    ranked = sorted(seconds)
    p95 = ranked[min(len(ranked) - 1, int(0.95 * len(ranked)))]
    return f"median {statistics.median(ranked) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms"


if __name__ == "__main__":
    main()
