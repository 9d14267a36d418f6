"""Two streams for people: answers on stdout, everything else on stderr; colour only where it is wanted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

# Control characters of a document must not reach the terminal: they could clear it or fake output.
# C0 without tab and newline, DEL, C1, and the marks that reverse the direction of text.
_CONTROL = dict.fromkeys(
    [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd"
)

Piece = str | tuple[str, str]  # text, or text with a rich style


def clean(text: str) -> str:
    """Text that is safe to show in a terminal, on one line."""
    return " ".join(text.translate(_CONTROL).split())


def coloured(stream: TextIO) -> bool:
    """No colour where there is no terminal, `NO_COLOR` is set (to anything but "") or the terminal is dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Printer:
    """Writes styled lines to one stream; wraps them with a hanging indent in a terminal, never in a pipe."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        self.terminal = stream.isatty()
        self.console: Console = Console(
            file=stream,
            color_system="auto" if coloured(stream) else None,
            highlight=False,
            markup=False,
            emoji=False,
            # Rich takes FORCE_COLOR and TTY_COMPATIBLE for a terminal; a pipe stays a pipe here.
            force_terminal=self.terminal,
        )

    def line(self, *pieces: Piece, indent: str = "", hang: str | None = None) -> None:
        """One paragraph. `hang` is the indentation of its further lines (as wide as `indent` by default)."""
        from rich.text import Text

        text = Text()
        for piece in pieces:
            words, style = (piece, "") if isinstance(piece, str) else piece
            text.append(words.translate(_CONTROL), style=style)
        hang = " " * len(indent) if hang is None else hang
        room = self.console.width - max(len(indent), len(hang))
        lines = list(text.wrap(self.console, max(24, room))) if self.terminal else [text]
        for number, part in enumerate(lines):
            part.rstrip()
            prefix = hang if number else indent
            self.console.print(Text(prefix).append_text(part) if part else Text(), soft_wrap=True)

    def blank(self) -> None:
        self.console.print()


def out() -> Printer:
    """Data: what a pipe should receive."""
    return Printer(sys.stdout)


def err() -> Printer:
    """Hops, progress, notices and errors."""
    return Printer(sys.stderr)


def show_warnings() -> None:
    """Send what the package logs (a damaged cache, a trace that cannot be written) to stderr as plain sentences."""
    import logging

    class Sentences(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # That something is sent somewhere is news, not a fault.
            label = "Note: " if record.name == "iterative_rag.sending" else "Warning: "
            err().line((label, "yellow"), clean(record.getMessage()))

    # A handler here keeps logging's own last resort quiet, which would print the bare message.
    logging.getLogger("iterative_rag").handlers = [Sentences(logging.WARNING)]


def write(text: str) -> None:
    """Plain data on stdout, as it is (JSON, a document in a pipe)."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def size(count: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
