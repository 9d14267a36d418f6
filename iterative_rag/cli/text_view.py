"""An answer that is a text, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.cli.console import Printer
from iterative_rag.text.text_blocks import TextBlock, TextHeading, TextParagraph, TextTable, text_blocks


def show_blocks(text: str, printer: Printer) -> None:
    """A text as it is laid out: headings, paragraphs, entries, tables."""
    before: TextBlock | None = None
    for block in text_blocks(text):
        together = isinstance(before, TextParagraph) and before.entry
        if before is not None and not (together and isinstance(block, TextParagraph) and block.entry):
            printer.blank()
        match block:
            case TextHeading(said):
                printer.line((said, "bold"))
            case TextParagraph(said, entry):
                printer.line(f"{'• ' if entry else ''}{said}", hang="  " if entry else "")
            case TextTable(rows):
                _show_table(rows, printer)
        before = block


def _show_table(rows: Sequence[Sequence[str]], printer: Printer) -> None:
    """Aligned columns in a terminal; in a pipe a Markdown table, whose rows are whole lines."""
    if not printer.terminal:
        for n, row in enumerate(rows):
            printer.line(f"| {' | '.join(row)} |")
            if not n:
                printer.line(f"|{' --- |' * len(row)}")
        return
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, padding=(0, 1))
    for name in rows[0]:
        table.add_column(Text(name))
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    printer.console.print(table)
