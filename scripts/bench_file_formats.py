#!/usr/bin/env python3
"""Megabytes and documents a second of each file format, on files of made-up prose.

    scripts/bench_file_formats.py [--megabytes 4]

The rates are of processor time, the child process with its start included; the time that passed stands beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes import sample_files
from iterative_rag.sources.folder import Folder
from iterative_rag.types import Document

WORDS = "the tower of Karsa was built in 1911 by Oda Brenk and stands 60 m high above the river Velm near"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2, help="of text in each file")
    options = parser.parse_args()
    chance = random.Random(5)
    lines = [" ".join(chance.choices(WORDS.split(), k=16)) + "." for _ in range(options.megabytes * 1_000_000 // 77)]
    with tempfile.TemporaryDirectory() as place:
        for path in written(Path(place), lines):
            measure(path)


def measure(path: Path) -> None:
    began, used = time.perf_counter(), processor()
    items = list(Folder(path).documents())
    passed, seconds = time.perf_counter() - began, processor() - used
    found = [item for item in items if isinstance(item, Document)]
    size, text = path.stat().st_size / 1e6, sum(len(one.text) for one in found) / 1e6
    print(
        f"{path.suffix:<6} {size:6.2f} MB -> {len(found):6,} documents, {text:5.2f} million characters "
        f"in {passed:6.2f} s, {seconds:5.2f} s of processor: "
        f"{size / seconds:6.1f} MB/s, {text / seconds:6.1f} million characters/s",
        flush=True,
    )
    assert len(found) == len(items), items[-1]


def processor() -> float:
    """Seconds of processor time, of this process and its children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def written(folder: Path, lines: list[str]) -> list[Path]:
    paths = [folder / f"prose.{suffix}" for suffix in ("md", "html", "pdf", "docx", "csv", "json", "jsonl")]
    md, html, pdf, word, csv, one_json, jsonl = paths
    md.write_text("\n\n".join(lines))
    html.write_text("<title>Towers</title>" + "".join(f"<p>{line} <a href=/x>More</a></p>" for line in lines))
    pdf.write_bytes(sample_files.pdf(*(lines[start : start + 50] for start in range(0, len(lines), 50))))
    word.write_bytes(
        sample_files.word_body("".join(f"<w:p><w:r><w:t>{one}</w:t></w:r></w:p>" for one in lines).encode())
    )
    csv.write_text("\n".join(["number,said,metres", *(f'{n},"{line}",60' for n, line in enumerate(lines))]))
    records = [{"title": f"Tower {n}", "text": " ".join(lines[n : n + 20])} for n in range(0, len(lines), 20)]
    one_json.write_text(json.dumps(records))
    jsonl.write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


if __name__ == "__main__":
    main()
