"""Help as wide as the terminal, broken between words, readable down to 40 columns."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import typer

_BASE: Any = typer.Context.formatter_class
_NARROWEST, _WIDEST = 24, 120
_TWO_COLUMNS = 64  # below this, a description stands under what it describes
# typer adds the Python type of an argument to its name.
_TYPE = re.compile(r" <(?:list\[\w+\]|str|int|float|path)>$")
_VERBATIM = "\b"  # begins a paragraph whose line breaks are kept


class HelpLayout(_BASE):  # type: ignore[misc]
    """typer's own is at most 80 columns wide and cuts words that do not fit."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = width or min(shutil.get_terminal_size().columns - 1, _WIDEST)
        super().__init__(indent_increment, max(columns, _NARROWEST))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write("\n".join(_wrapped(f"{prefix or 'Usage: '}{prog} {args}", self.width, " " * 4)) + "\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = [_paragraph(part, self.width - len(indent)) for part in text.split("\n\n")]
        self.write("\n\n".join(textwrap.indent(part, indent) for part in paragraphs) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = [(_TYPE.sub("", term), description) for term, description in rows]
        indent = " " * self.current_indent
        longest = max((len(term) for term, _ in rows), default=0)
        column = min(longest, col_max) + col_spacing if self.width >= _TWO_COLUMNS else 2
        hang = indent + " " * column
        for term, description in rows:
            lines = _paragraph(description, self.width - len(hang)).splitlines()
            room = self.width - len(indent)
            head = _wrapped(term if len(term) <= room else term.replace("|", "| "), room, " " * 4)
            if len(head) == 1 and len(term) + col_spacing <= column:
                head = [term.ljust(column) + (lines.pop(0) if lines else "")]
            self.write("".join(f"{indent}{line}".rstrip() + "\n" for line in head))
            self.write("".join(f"{hang}{line}".rstrip() + "\n" for line in lines))


def _paragraph(text: str, width: int) -> str:
    if text.lstrip().startswith(_VERBATIM):
        lines: Iterable[str] = text.strip().splitlines()[1:]
        return "\n".join(part for line in lines for part in _wrapped(line, width, " " * 6))
    return "\n".join(_wrapped(" ".join(text.split()), width))


def _wrapped(text: str, width: int, hang: str = "") -> list[str]:
    """Lines that are broken between words only."""
    wrapper = textwrap.TextWrapper(width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text) or [""]
