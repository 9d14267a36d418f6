"""Fill a disk, at rest and in the middle of indexing, and see that nothing is lost, called damaged or left blocked.

    sudo python scripts/bench_full_disk.py [--rounds 10]

On a small file system of its own (an image with ext4, mounted). Each round of "while writing" fills the disk at a
random moment of an indexing run; between them room is made and the run goes on. Printed, for each part: how many
commands were run, how many ended as they should, and how often a healthy corpus was called damaged. `most room of a
batch` is what one batch of 512 passages took at most, to be compared with what must be free. Run by hand.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.small_disk import fill, make_room, small_disk
from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.index import writer
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.sqlite_errors import FREE_BYTES
from iterative_rag.ingest import ingest
from iterative_rag.system.files import free_bytes

MEGABYTES = 400
MB = 1024 * 1024
READING = (
    ("search", "river", "--corpus", "towns"),
    ("show", "Town 1", "--corpus", "towns"),
    ("ask", "Which river does Town 1 lie on?", "--corpus", "towns", "--llm", "builtin", "-q"),
    ("corpus",),
)


@dataclass(slots=True)
class Outcome:
    commands: int = 0
    right: int = 0
    damaged: int = 0

    def count(self, done: subprocess.CompletedProcess[str], *codes: int) -> None:
        said = done.stdout + done.stderr
        self.commands += 1
        self.right += done.returncode in codes and "Unexpected" not in said
        self.damaged += "damaged" in said


def command(disk: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ITERATIVE_RAG_HOME": str(disk / "home")}
    line = [sys.executable, "-m", "iterative_rag", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)


def articles(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = " ".join(f"Town {number} lies on the river Mell, at its mile {mile}." for mile in range(100))
        (folder / f"Town_{number}.txt").write_text(text)
    return folder


def at_rest(disk: Path, folder: Path) -> Outcome:
    """A healthy corpus on a disk without a byte: everything reads, nothing writes; afterwards all is as before."""
    outcome = Outcome()
    index = ("index", str(folder), "--corpus", "towns")
    outcome.count(command(disk, *index), 0)
    before = [command(disk, *line) for line in READING]
    (folder / "New.txt").write_text("A new town.")
    for leave in (0, 37):
        fill(disk, leave)
        for line, with_room in zip(READING, before, strict=True):
            outcome.count(command(disk, *line), with_room.returncode)
        outcome.count(command(disk, *index), 4)
        make_room(disk)
    outcome.count(command(disk, *index), 0)
    return outcome


def while_writing(disk: Path, folder: Path, rounds: int) -> Outcome:
    """The disk fills while a corpus grows; with room again, the same command goes on and loses nothing."""
    outcome = Outcome()
    chance = random.Random(1)
    index = ("index", str(folder), "--corpus", "grown")
    for _ in range(rounds):
        filling = threading.Timer(chance.uniform(0.5, 4.0), fill, (disk,))
        filling.start()
        # SIGBUS (-7, 135): another process took the room between the writer's look at the disk and its write.
        outcome.count(command(disk, *index), 0, 4, -7, 135)
        filling.join()
        if (disk / "home" / "corpora" / "grown").exists():
            outcome.count(command(disk, "corpus"), 0)
        make_room(disk)
    outcome.count(command(disk, *index), 0)
    info = Corpora(disk / "home" / "corpora").info("grown")
    outcome.right -= info.documents != len(list(folder.iterdir())) or info.state != "ready"
    return outcome


def room_of_a_batch(disk: Path, folder: Path) -> int:
    """The most that was taken between two looks of the writer at the disk, in bytes."""
    from iterative_rag.sources import open_source

    seen: list[int] = []
    looked = free_bytes

    def look(path: Path) -> int:
        os.sync()
        seen.append(looked(path))
        return seen[-1]

    setattr(writer, "free_bytes", look)  # noqa: B010 - a measurement, not an interface
    try:
        ingest([open_source(folder)], Corpora(disk / "measured"), "c", HashingEmbedder(1024))
    finally:
        setattr(writer, "free_bytes", looked)  # noqa: B010
    os.sync()
    seen.append(free_bytes(disk))
    return max(before - after for before, after in pairwise(seen))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="times that the disk fills while a corpus is written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, small_disk(Path(place), MEGABYTES) as disk:
        folder = articles(Path(place) / "articles", 300)
        began = time.monotonic()
        print(f"{'':<16}{'commands':>10}{'right':>8}{'damaged':>9}")
        few = articles(Path(place) / "few", 20)
        for name, outcome in (
            ("at rest", at_rest(disk, few)),
            ("while writing", while_writing(disk, folder, options.rounds)),
        ):
            print(f"{name:<16}{outcome.commands:>10}{outcome.right:>8}{outcome.damaged:>9}")
        room = room_of_a_batch(disk, folder)
        print(f"most room of a batch: {room / MB:.1f} MB at 1,024 dimensions; wanted free: {FREE_BYTES / MB:.0f} MB")
        print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
