"""JSON Lines inside a folder of other files."""

from __future__ import annotations

from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Format, Reading, shown
from iterative_rag.sources.jsonl import JsonLines

MAX_BYTES = 1 << 50  # read line by line: only a line has a limit


def read(path: Path) -> Reading:
    try:
        yield from JsonLines(path).documents()
    except CorpusError as error:
        yield Skipped(shown(path), str(error))


FORMAT = Format((".jsonl", ".jsonl.gz"), MAX_BYTES, read, apart=False, many=True)
