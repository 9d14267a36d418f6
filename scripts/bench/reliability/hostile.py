"""Hostile files of full size, read in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fakes import hostile_files as hostile_files_of
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.types.documents import as_field
from scripts.bench.reliability.bench import Bench, Result


def hostile_files(bench: Bench) -> Result:
    """More than a hundred files, with lines of 100 MB and tables of a million rows: none takes the process down."""
    if bench.quick:
        return Result("files of full size: not in a quick run", None)
    folder, files = bench.folder / "hostile-files", hostile_files_of.files()
    folder.mkdir()
    for file in files:
        file.make(folder / file.name, hostile_files_of.FULL)
    try:
        done = bench.home("hostile-files").run(str(folder), module="scripts.bench.reliability.hostile", seconds=580)
    finally:
        hostile_files_of.remove(folder)
    ends = [json.loads(line) for line in done.out.splitlines()]
    # A source is told as one line of visible characters.
    names = {as_field(f"{folder}/{shown(file.name)}").removeprefix(f"{folder}/") for file in files}
    lost = names - {name for name, _ in ends}
    skipped = {name for name, reason in ends if reason}
    figures = (
        f"{len(lost)} of {len(files)} crashed (exit code {done.code}), {len(skipped)} skipped in whole or in part, "
    )
    return Result(f"{figures}peak {done.megabytes:.0f} MB, {done.seconds:.0f} s", not lost and done.code == 0)


def main() -> None:
    """In a process of its own: what becomes of each file of a folder, a line each."""
    folder = Path(sys.argv[1])
    for item in Folder(folder).documents():
        name = item.source.removeprefix(f"{folder}/")
        name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
        print(json.dumps([name.split("/")[0], item.reason if isinstance(item, Skipped) else ""]), flush=True)


if __name__ == "__main__":
    main()
