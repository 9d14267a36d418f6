"""The process that parses files: reads paths from its input, writes documents to its output as JSON Lines.

It limits its own memory and time, so that it ends even when its parent is gone.
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
from iterative_rag.sources.formats.known_formats import format_in_folder
from iterative_rag.types import Document

END = b'{"end": true}\n'


def serve(megabytes: int, seconds: float) -> None:
    """Read files until the input ends."""
    # Keep what libraries print out of the output.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit_memory(megabytes)
    for line in sys.stdin.buffer:
        _limit_time(seconds)
        path = os.fsdecode(bytes.fromhex(line.decode()))
        _answer(Path(path), output, megabytes)


def _answer(path: Path, output: BinaryIO, megabytes: int) -> None:
    form = format_in_folder(path.name)
    assert form is not None, path.name
    try:
        for item in form.read(path):
            _write(output, asdict(item))
    except OSError as error:
        _write(output, {"reason": f"It cannot be read: {error.strerror or error}."})
    except MemoryError:
        _write(output, {"reason": f"Reading it takes more than {megabytes} MB of memory.", "broken": True})
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a parser raises costs one file, and is reported
        message = f"{type(error).__name__} {' '.join(str(error).split())[:120]}".rstrip(" .")
        _write(output, {"reason": f"Its reader failed: {message}.", "broken": True})
    output.write(END)
    output.flush()


def _write(output: BinaryIO, value: dict[str, object]) -> None:
    output.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    output.flush()


def item_of(value: dict[str, object], source: str) -> Document | Skipped:
    """The item of a line of output. Raises TypeError or KeyError for any other JSON."""
    if "reason" in value:
        return Skipped(str(value.get("source", source)), str(value["reason"]))
    pages, metadata = value["pages"], value["metadata"]
    url = value["url"]
    assert isinstance(pages, list)
    assert isinstance(metadata, list)
    return Document(
        str(value["id"]),
        str(value["title"]),
        str(value["text"]),
        str(value["source"]),
        None if url is None else str(url),
        tuple(int(page) for page in pages),
        metadata=tuple((str(key), str(held)) for key, held in metadata),
    )


def _limit_memory(megabytes: int) -> None:
    # Allocated memory, not mapped: libraries reserve addresses that they never use.
    _limit("RLIMIT_DATA", megabytes * 1_000_000)
    _limit("RLIMIT_CORE", 0)


def _limit_time(seconds: float) -> None:
    """Processor time from now on; the parent watches the wall clock."""
    _limit("RLIMIT_CPU", int(time.process_time() + seconds) + 2)


def _limit(name: str, value: int) -> None:
    """Set a limit where the system has it. Windows does not: there only the parent's clock holds."""
    try:
        import resource
    except ImportError:
        return
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # a system that has the limit but does not let it be set
        resource.setrlimit(kind, (value, hard))
