"""WikiTableQuestions as pages: each table in Markdown, parsed as the built-in backend parses it, with its questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from iterative_rag.builtin.tables.page_tables import PageTable, tables
from scripts.train.data import plain
from scripts.train.evidence import files
from scripts.train.evidence.aside import parts


@dataclass(frozen=True, slots=True)
class TableItem:
    """A question on a table with its answers."""

    question: str
    answers: tuple[str, ...]
    table: PageTable

    def is_right(self, values: Sequence[str]) -> bool:
        """Whether values are the answers, whatever their order."""
        return sorted(map(plain, values)) == sorted(map(plain, self.answers))


def items(folder: Path, starter: Path | None, part: str) -> Iterator[TableItem]:
    """The questions of a part, as scripts/train/evidence/aside.py deals the articles out."""
    known = parts(folder, starter)
    rows = {row["table"]: row for row in files.rows(folder, files.TABLES)}
    parsed: dict[str, PageTable | None] = {}
    for row in files.rows(folder, files.QUESTIONS_ON_TABLES):
        table = rows[row["table"]]
        if known.part([table["title"]]) != part:
            continue
        if row["table"] not in parsed:
            parsed[row["table"]] = page_table(table)
        page = parsed[row["table"]]
        if page is not None:
            yield TableItem(row["question"], tuple(row["answers"]), page)


def page_table(table: Mapping[str, Any]) -> PageTable | None:
    found = tables(markdown(table), table["title"])
    return found[0] if found else None


def markdown(table: Mapping[str, Any]) -> str:
    """An article with this table alone."""
    section = (table.get("section") or "").split("|")[-1]
    lines = [table["header"], ["---"] * len(table["header"]), *table["rows"]]
    rows = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
    return "\n".join([f"# {table['title']}", "", *([f"## {section}", ""] if section else []), *rows, ""])


@cache
def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
