"""The last filter before a terminal: no control character from untrusted text passes it.

Most texts are cleaned earlier. This catches the rest: tracebacks, usage errors that repeat an argument, warnings of
libraries.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Any

from iterative_rag.text.control_characters import visible

# What rich writes for colours, bars, the cursor and links.
_STYLING = re.compile(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\x1b\]8;(?:id=\d+;https?://[^\s\x00-\x1f\x7f-\x9f]+|;)\x1b\\)")


class TerminalStream(io.TextIOWrapper):
    """A stream to a terminal that replaces control characters."""

    def write(self, text: str) -> int:
        return super().write(visible(text))

    def write_styled(self, text: str) -> int:
        """Write text that may contain colours and cursor movements."""
        parts = _STYLING.split(text)
        return super().write("".join(part if number % 2 else visible(part) for number, part in enumerate(parts)))


class Styled:
    """A TerminalStream for rich, whose colours and cursor movements pass."""

    def __init__(self, stream: TerminalStream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write_styled(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_streams() -> None:
    """Replace stdout and stderr where they lead to a terminal. What cannot be encoded is shown as a question mark."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: `>&-`
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        if not isinstance(stream, io.TextIOWrapper):
            continue
        stream.reconfigure(errors="replace")
        if stream.isatty() and not isinstance(stream, TerminalStream):
            stream.flush()
            guarded = TerminalStream(stream.buffer, encoding=stream.encoding, errors="replace", line_buffering=True)
            setattr(sys, name, guarded)
