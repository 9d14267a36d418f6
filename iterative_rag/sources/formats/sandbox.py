"""Reads files in a child process with limits of memory and time.

PDFium, Lexbor and libxml2 are written in C and C++: a malicious file can crash them, keep them busy for ever or exhaust
the memory. In a child process that costs one file. The child reads paths, and writes documents as JSON Lines.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Reading, format_in_folder, shown
from iterative_rag.system.child_process import ChildProcess, asked_lines
from iterative_rag.types import Document

# For each file once the folder's budget is used up: enough for most files.
_LAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """For one file; `refused_seconds` is the budget for all files of a folder that are refused in the end."""

    seconds: float = 120.0
    megabytes: int = 224
    refused_seconds: float = 600.0


class ApartReader:
    """Reads many files in one child process, in a new one after each failure. For one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: ChildProcess | None = None
        self._refused = 0.0

    @property
    def used_up(self) -> bool:
        """Whether refused files have taken twice their budget."""
        return self._refused > 2 * self._limits.refused_seconds

    def read(self, path: Path) -> Reading:
        """The documents of a file, and what was skipped. The child waits until the next item is taken."""
        seconds = min(self._limits.seconds, max(self._limits.refused_seconds - self._refused, _LAST_SECONDS))
        spent, refused, done = 0.0, True, False
        child = self._child = self._child or ChildProcess(__name__, self._limits.megabytes, self._limits.seconds)
        try:
            child.ask(os.fsencode(path).hex().encode())
            while not done:
                before = time.monotonic()
                line = child.reply(seconds - spent)
                spent += time.monotonic() - before
                if not line.endswith(b"\n"):
                    refused = True
                    crashed = f"The process that read it crashed ({child.close()}): the file is damaged or malicious."
                    yield Skipped(shown(path), self._too_long(seconds) if spent >= seconds else crashed)
                    return
                value = json.loads(line)
                done = "end" in value
                if not done:
                    skipped = "reason" in value
                    refused = refused and skipped
                    source = str(value.get("source", shown(path)))
                    yield Skipped(source, str(value["reason"])) if skipped else _reader_of_documents()(value)
                    if value.get("broken"):
                        return
        finally:
            if refused:
                self._refused += spent
            if not done:
                self.close()

    def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _too_long(self, seconds: float) -> str:
        reduced = seconds < self._limits.seconds
        why = f": refused files of this folder have taken {self._refused:,.0f} s" if reduced else ""
        return f"Reading it takes longer than {seconds:.3g} s{why}."


def serve(megabytes: int, seconds: float) -> None:
    """Read files until the input ends."""
    for line, output in asked_lines(megabytes, seconds):
        path = Path(os.fsdecode(bytes.fromhex(line.decode())))
        form = format_in_folder(path.name)
        assert form is not None, path.name
        try:
            for item in form.read(path):
                _write(output, asdict(item))
        except OSError as error:
            _write(output, {"reason": f"It cannot be read: {error.strerror or error}."})
        except CorpusError as error:
            _write(output, {"reason": str(error)})
        except MemoryError:
            _write(output, {"reason": f"Reading it takes more than {megabytes} MB of memory.", "broken": True})
        except Exception as error:  # noqa: BLE001 - the boundary: what a parser raises costs one file, and is reported
            message = f"{type(error).__name__} {' '.join(str(error).split())[:120]}".rstrip(" .")
            _write(output, {"reason": f"Its reader failed: {message}.", "broken": True})
        _write(output, {"end": True})


def _write(output: BinaryIO, value: dict[str, object]) -> None:
    output.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    output.flush()


@cache
def _reader_of_documents() -> Callable[[object], Document]:
    from pydantic import TypeAdapter

    return TypeAdapter(Document).validate_python
