#!/usr/bin/env python3
"""Read, or index, more than a hundred hostile files at full size in a child process: crashes, skips, peak memory.

    scripts/bench_hostile_files.py [--index] [--quiet]

The files are those of fakes/hostile_files.py, with lines of 100 MB and tables of a million rows. Memory is what the
child and its own children hold together, looked at every 20 ms (Linux only). `--index` runs the whole `index` command's
work with an embedder that has no model, so that what is measured is what comes on top of a model.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import hostile_files
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.types.documents import as_field

# For indexing, tables of a tenth of the rows: what is large for memory is one document, not many.
INDEXED = hostile_files.Size(megabytes=100, thousand=100)


def main() -> None:
    options = arguments()
    if options.inside:
        read(options.inside, Path(options.corpora) if options.corpora else None)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        folder.mkdir()
        files = hostile_files.files()
        for one in files:
            one.make(folder / one.name, INDEXED if options.index else hostile_files.FULL)
        try:
            measure(folder, files, f"{place}/corpora" if options.index else "", quiet=options.quiet)
        finally:
            hostile_files.remove(folder)


def measure(folder: Path, files: list[hostile_files.Hostile], corpora: str, *, quiet: bool) -> None:
    command = [sys.executable, __file__, "--inside", str(folder), *(["--corpora", corpora] if corpora else [])]
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = Peak(child.pid)
    assert child.stdout is not None
    outcomes: defaultdict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for line in child.stdout:
        name, reason = json.loads(line)
        if name == "":
            print(reason)
            continue
        outcomes[name].append(reason)
        counts["skips" if reason else "documents"] += 1
    code = child.wait()
    peak.stop()
    if not quiet:
        for name, reasons in sorted(outcomes.items()):
            documents = reasons.count("")
            said = " ".join(dict.fromkeys(filter(None, reasons)))[:150]
            print(f"{ascii(name)[1:-1]:<28} {f'{documents} documents' if documents else '':<16} {said}")
    # As `tell` has it: a source is one line of visible characters.
    known = {as_field(f"{folder}/{shown(one.name)}").removeprefix(f"{folder}/"): one.name for one in files}
    lost = [name for told, name in known.items() if told not in outcomes]
    crashed = len(lost) if code == 0 else max(1, len(lost))
    skipped = sum(any(reasons) for reasons in outcomes.values())
    read_from = sum("" in reasons for reasons in outcomes.values())
    print(
        f"{crashed} of {len(files)} crashed (exit code {code}); {counts['documents']} documents from "
        f"{read_from} files, {skipped} files skipped in whole or in part, each with its reason; "
        f"peak {peak.megabytes:.0f} MB, of which {peak.below:.0f} MB in the process that parses "
        f"({peak.start:.0f} MB before the first file), "
        f"{time.monotonic() - began:.0f} s"
    )
    sys.exit(1 if crashed else 0)


def read(folder: Path, corpora: Path | None) -> None:
    """In the child: say what becomes of each file."""
    source = Folder(folder)
    print(json.dumps(["", f"reading {folder}"]), flush=True)
    if corpora is None:
        for item in source.documents():
            tell(folder, item.source, item.reason if isinstance(item, Skipped) else "")
        return
    from iterative_rag.index.corpora import Corpora
    from iterative_rag.index.embedders.hashing import HashingEmbedder
    from iterative_rag.index.ingest import ingest

    known, embedder = Corpora(corpora), HashingEmbedder()
    report = ingest([source], known, "hostile", embedder)
    for skipped in report.skipped:
        tell(folder, skipped.source, skipped.reason)
    corpus = known.open("hostile", embedder)
    for entry in corpus.catalogue():
        tell(folder, entry.source, "")
    corpus.close()
    print(json.dumps(["", f"{report.passages:,} passages in {report.seconds:.0f} s"]), flush=True)


def tell(folder: Path, source: str, reason: str) -> None:
    name = source.removeprefix(f"{folder}/")
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
    print(json.dumps([name.split("/")[0], reason]), flush=True)


class Peak:
    """The most memory that a process and those below it held together."""

    def __init__(self, process: int) -> None:
        self.megabytes = self.below = self.start = 0.0
        self._process = process
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.02):
            held = _held(self._process)
            if _children(self._process) == [] and self.megabytes < 100:
                self.start = max(self.start, held)  # the first child comes with the first file that needs one
            if held > self.megabytes:
                self.megabytes = held
                self.below = sum(_held(one) for one in _children(self._process))


def _held(process: int) -> float:
    """Megabytes resident, of this process and its children."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 + sum(_held(one) for one in _children(process))


def _children(process: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", action="store_true", help="index them, instead of only reading them")
    parser.add_argument("--quiet", action="store_true", help="print the last line only")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--corpora", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
