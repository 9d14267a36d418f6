"""Terminal output: answers on stdout, everything else on stderr; colour only in a terminal that allows it.

The last filter before a terminal stands here, too: no control character from untrusted text passes it. Most texts are
cleaned earlier; it catches tracebacks, usage errors that repeat an argument, and warnings of libraries.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import typer

from iterative_rag.errors import UsageError
from iterative_rag.text.control_characters import one_line, to_json, visible

if TYPE_CHECKING:
    from rich.console import Console

Piece = str | tuple[str, str]  # text, or text with a rich style

clean = one_line  # what every text from elsewhere is made before it is shown


class Printer:
    """Writes styled lines to one stream; wraps them with a hanging indent in a terminal, never in a pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.terminal = stream, stream.isatty()

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        stream = self._stream
        coloured = self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return Console(
            file=cast(IO[str], Styled(stream)) if isinstance(stream, TerminalStream) else stream,
            color_system="auto" if coloured else None,
            highlight=False,
            markup=False,
            emoji=False,
            # Rich would treat FORCE_COLOR and TTY_COMPATIBLE as a terminal even in a pipe.
            force_terminal=self.terminal,
        )

    def line(self, *pieces: Piece, indent: str = "", hang: str | None = None) -> None:
        """One paragraph. `hang` is the indentation of its further lines (as wide as `indent` by default)."""
        plain = visible("".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)).rstrip()
        if self._wrote(indent + plain if plain else ""):
            return
        from rich.text import Text

        text = Text()
        for piece in pieces:
            words, style = (piece, "") if isinstance(piece, str) else piece
            text.append(visible(words), style=style)
        hang = " " * len(indent) if hang is None else hang
        room = self.console.width - max(len(indent), len(hang))
        lines = list(text.wrap(self.console, max(24, room))) if self.terminal else [text]
        for number, part in enumerate(lines):
            part.rstrip()
            prefix = hang if number else indent
            self.console.print(Text(prefix).append_text(part) if part else Text(), soft_wrap=True)

    def command(self, words: str, *, indent: str = "") -> None:
        """One line that is never broken, so that it can be copied."""
        if not self._wrote(line := f"{indent}{visible(words)}"):
            self.console.print(line, soft_wrap=True)

    def blank(self) -> None:
        self.line()

    def _wrote(self, line: str) -> bool:
        """Whether it is a pipe and has the line now: there rich, which takes 15 ms to load, would only lay out tabs."""
        if self.terminal or "\t" in line:
            return False
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except BrokenPipeError:
            self.console.on_broken_pipe()
        return True


def out() -> Printer:
    """Standard output: what a pipe should receive."""
    return Printer(sys.stdout)


def err() -> Printer:
    """Standard error: hops, progress, notices and errors."""
    return Printer(sys.stderr)


def show_warnings() -> None:
    """Send what the package logs (a damaged cache, a trace that cannot be written) to stderr as plain sentences."""

    class Sentences(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # A notice about where data is sent is not a warning.
            label = "Note: " if record.name == "iterative_rag.remote.hosts" else "Warning: "
            err().line((label, "yellow"), clean(record.getMessage()))

    # Without a handler, logging's last resort would print the bare message.
    logging.getLogger("iterative_rag").handlers = [Sentences(logging.WARNING)]


def write(text: str) -> None:
    """Plain data on stdout: unchanged in a pipe, without control characters in a terminal."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """A JSON value on stdout, control characters escaped, all but ASCII too where stdout is not UTF-8."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write(to_json(value, indent=indent, ascii_only=not utf8))


def write_file(path: Path, text: str) -> None:
    """Raises UsageError."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", hint="Name another file.") from error


def confirm(question: str, *, again: str) -> None:
    """Ask on the terminal; `again` is the command that needs no asking. Raises UsageError without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError("There is no terminal to ask on.", hint=again)
    typer.confirm(clean(question), abort=True, err=True)


def size(count: int) -> str:
    """A number of bytes in a readable unit."""
    from rich.filesize import decimal

    return decimal(count)


# --- the last filter -------------------------------------------------------------------------

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
