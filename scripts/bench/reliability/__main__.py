"""What becomes of faults, kills, hostile input and many processes at once: one table of targets.

    python -m scripts.bench.reliability [--quick] [--only NAME,NAME] [--skip NAME,NAME] [--json FILE]
    python -m scripts.bench.reliability --soak MINUTES

Each target runs the command line or the public Python API for real, against stand-ins on loopback, in folders of its
own that are removed at the end. It prints figures, its aim, and ok, missed or skipped. The exit code is 1 if any is
missed. `--soak` runs the soak alone: three processes on one data folder.
"""

from __future__ import annotations

import json as json_text
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.bench import harness
from scripts.bench.reliability import damage, faults, hostile, kills, load, refusals
from scripts.bench.reliability import soak as soaking
from scripts.bench.reliability.bench import Bench, Result, Target, stopping

TARGETS = (
    Target("cross-talk", "every question its own answer; 128 calls reach the server at once", load.cross_talk),
    Target("latency", "p95 at most 1.10 times the ideal, processor time taken out", load.latency),
    Target("memory", "at most 5 % growth, all right", load.memory),
    Target("some-faults", "30 % of calls answered 500 or 503: all right", faults.some_faults),
    Target("all-faults", "a typed error or incomplete; never an answer, never an abstention", faults.all_faults),
    Target("hangs", "every role ends within its limit, never as an abstention", faults.hangs),
    Target("broken-json", "20 % of replies broken: at least 97 % right", faults.broken_json),
    Target("cut-streams", "30 % of replies cut: none wrong, at least 97 % right", faults.cut_streams),
    Target("endless-replies", "ends within its limit, at most 600 MB", faults.endless_replies),
    Target("index-kills", "50 kills: no point differs from an uninterrupted index", kills.index_kills, 1600),
    Target("evaluate-kills", "20 kills: none run again, lost or scored otherwise", kills.evaluate_kills, 1600),
    Target(
        "system-refusals", "0 corpora lost, each told in a sentence, all gone on with", refusals.system_refusals, 3000
    ),
    Target("corpus-damage", "no panic, one sentence each, mended by index", damage.corpus_damage, 3000),
    Target("readers", "64 open at once during writing: none fails", load.readers),
    Target("hostile-files", "0 crashed, each read or skipped with its reason", hostile.hostile_files),
)
SOAK = Target("soak", "0 exceptions, 0 refusals, 0 stale answers, every quote fits", soaking.soak)
WORDS = {True: "ok", False: "missed", None: "skipped"}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    name: str
    verdict: str
    figures: str
    aim: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.name:<18} {self.verdict:<8} {self.figures}  | aim: {self.aim} ({self.seconds:.0f} s)"


class TooLong(Exception):
    """A target reached its limit."""


def reliability(
    quick: bool = False,
    only: str = "",
    skip: str = "",
    soak: float = 0.0,
    json: Path | None = None,
    seed: int = 1,
) -> None:
    """`quick`: smaller counts; `only`, `skip`: names of targets; `soak`: that alone, for so many minutes; `json`:
    a file for the table."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="reliability-") as folder:
        bench = Bench(Path(folder), quick=quick, seed=seed, soak_minutes=soak)
        for target in [SOAK] if soak else chosen(only, skip):
            rows.append(measured(target, bench))
            print(rows[-1], flush=True)
    counts = {word: sum(row.verdict == word for row in rows) for word in WORDS.values()}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    if json:
        json.write_text(json_text.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if counts["missed"] else 0)


def chosen(only: str, skip: str) -> Sequence[Target]:
    known = {target.name: target for target in TARGETS}
    wanted, left_out = ([name for name in text.split(",") if name] for text in (only, skip))
    if unknown := [name for name in (*wanted, *left_out) if name not in known]:
        sys.exit(f"There is no target {unknown[0]!r}. They are: {', '.join(known)}.")
    return [known[name] for name in (wanted or known) if name not in left_out]


def measured(target: Target, bench: Bench) -> Row:
    """Run one target; whatever goes wrong inside it is a miss, and the next one runs."""
    began = time.monotonic()
    limit = target.seconds + 60 * bench.soak_minutes
    with stopping(bench):
        try:
            with limited(limit):
                result = target.run(bench)
        except TooLong:
            result = Result(f"did not end within {limit:.0f} s", False)
        except Exception as error:  # noqa: BLE001 - the table must show the others all the same
            result = Result(f"{type(error).__name__}: {' '.join(str(error).split())[-300:]}", False)
    return Row(target.name, WORDS[result.ok], result.figures, target.aim, time.monotonic() - began)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooLong inside after so many seconds."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    harness.run(reliability)
