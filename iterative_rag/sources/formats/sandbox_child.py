"""The process in which files are parsed: takes paths on its input, writes documents to its output, one JSON a line.

It keeps within limits of memory and time of its own, so that it ends even when nobody watches it any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.registry import format_of
from iterative_rag.types import Document

END = b'{"end": true}\n'


def serve(megabytes: int, seconds: float) -> None:
    """Read files until the input ends."""
    # Libraries that print must not write between the documents.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit_memory(megabytes)
    for line in sys.stdin.buffer:
        _limit_time(seconds)
        path = os.fsdecode(bytes.fromhex(line.decode()))
        _answer(Path(path), output, megabytes)


def _answer(path: Path, output: BinaryIO, megabytes: int) -> None:
    form = format_of(path.name)
    assert form is not None, path.name
    try:
        for item in form.read(path):
            _write(output, asdict(item))
    except OSError as error:
        _write(output, {"reason": f"It cannot be read: {error.strerror or error}."})
    except MemoryError:
        _write(output, {"reason": f"Reading it takes more than {megabytes} MB of memory.", "broken": True})
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a parser raises costs one file, and is said
        said = " ".join(str(error).split())[:120]
        _write(
            output, {"reason": f"Its reader failed: {type(error).__name__} {said}".rstrip(" .") + ".", "broken": True}
        )
    output.write(END)
    output.flush()


def _write(output: BinaryIO, value: dict[str, object]) -> None:
    output.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    output.flush()


def item_of(value: dict[str, object], source: str) -> Document | Skipped:
    """What a line of the output says. Raises TypeError or KeyError for one that is none."""
    if "reason" in value:
        return Skipped(str(value.get("source", source)), str(value["reason"]))
    pages = value["pages"]
    url = value["url"]
    assert isinstance(pages, list)
    return Document(
        str(value["id"]),
        str(value["title"]),
        str(value["text"]),
        str(value["source"]),
        None if url is None else str(url),
        tuple(int(page) for page in pages),
    )


def _limit_memory(megabytes: int) -> None:
    # What is allocated, not what is mapped: libraries reserve addresses that they never use.
    _limit("RLIMIT_DATA", megabytes * 1_000_000)
    _limit("RLIMIT_CORE", 0)


def _limit_time(seconds: float) -> None:
    """Of the processor, beginning now: the parent, as long as it lives, looks at the clock."""
    _limit("RLIMIT_CPU", int(time.process_time() + seconds) + 2)


def _limit(name: str, most: int) -> None:
    """Set a limit where the system has it (Windows has none: there the parent's clock alone holds)."""
    try:
        import resource
    except ImportError:
        return
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with contextlib.suppress(OSError, ValueError):  # a system that knows the limit but does not let it be set
        resource.setrlimit(kind, (most, hard))
