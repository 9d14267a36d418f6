#!/usr/bin/env python3
"""What becomes of faults, kills, hostile input and many processes at once: one table of targets. Run by hand.

    python -m scripts.bench_reliability [--quick] [--only NAME,NAME] [--skip NAME,NAME] [--json FILE]
    python -m scripts.bench_reliability --soak [MINUTES]

Each target runs the command line or the public Python API for real, against stand-ins on loopback, in folders of its
own that are removed at the end. It prints figures, its aim, and ok, missed or skipped. The exit code is 1 if any is
missed. `--soak` runs the soak alone: three processes on one data folder.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.reliability.bench import Bench, Result, Target, stopping
from scripts.reliability.targets import SOAK, TARGETS

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


def main() -> None:
    options = arguments()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="reliability-") as folder:
        bench = Bench(Path(folder), quick=options.quick, seed=options.seed, soak_minutes=options.soak or 0.0)
        for target in chosen(options):
            rows.append(measured(target, bench))
            print(rows[-1], flush=True)
    counts = {word: sum(row.verdict == word for row in rows) for word in WORDS.values()}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if counts["missed"] else 0)


def chosen(options: argparse.Namespace) -> Sequence[Target]:
    if options.soak is not None:
        return [SOAK]
    known = {target.name: target for target in TARGETS}
    only, skipped = ([one for one in text.split(",") if one] for text in (options.only, options.skip))
    if unknown := [name for name in (*only, *skipped) if name not in known]:
        sys.exit(f"There is no target {unknown[0]!r}. They are: {', '.join(known)}.")
    return [known[name] for name in (only or known) if name not in skipped]


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


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller counts: a few minutes in all")
    parser.add_argument("--only", default="", metavar="NAME[,NAME]", help="these targets alone")
    parser.add_argument("--skip", default="", metavar="NAME[,NAME]", help="all targets but these")
    parser.add_argument("--soak", type=float, nargs="?", const=20.0, metavar="MINUTES", help="the soak alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table there")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
