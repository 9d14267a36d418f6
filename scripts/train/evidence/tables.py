"""Look-up questions on tables: the answer is one cell, and the question names another cell of its row.

A row is shown with its header, `Year: 1987 | Venue: Birmingham`, several rows to a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.train.data import plain
from scripts.train.evidence import files
from scripts.train.evidence.aside import Parts
from scripts.train.evidence.asked import Asked, Shown, holds, shared_words

PASSAGE = 480  # characters of a passage of rows
# Questions with these words compare or count rows; one row alone does not answer them.
_NO_LOOK_UP = re.compile(
    r"\b(?:how many (?:\w+ )?(?:times|\w+s)|number of|total|difference|average|sum|more|most|less|least|fewer|fewest|"
    r"than|first|last|next|previous|before|after|following|consecutive|other|another|only|besides|same|both|either|or|"
    r"each|above|below|highest|lowest|largest|smallest|biggest|longest|shortest|earliest|latest|best|worst|top|bottom|"
    r"greatest|tallest|oldest|youngest|fastest|ever|never|not|no|did any|is there|are there|final|initial|combined|"
    r"all)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    row: int
    column: int


def look_ups(folder: Path, parts: Parts) -> Iterator[Asked]:
    """The look-up questions of WikiTableQuestions, with the rows around the gold one and other rows of the table."""
    tables = {row["table"]: row for row in files.rows(folder, files.TABLES)}
    for row in files.rows(folder, files.QUESTIONS_ON_TABLES):
        table = tables[row["table"]]
        cell = looked_up(row["question"], row["answers"], table)
        if cell:
            gold, others = shown(row["question"], table, cell)
            part = parts.part([table["title"]])
            yield Asked(part, "table", row["question"], tuple(row["answers"]), (gold,), others)


def looked_up(question: str, answers: Sequence[str], table: Mapping[str, Any]) -> Cell | None:
    """The one cell that is the answer, if the question names a cell of its row and of no other row."""
    if len(answers) != 1 or _NO_LOOK_UP.search(question):
        return None
    wanted = plain(answers[0])
    cells = [
        Cell(number, column)
        for number, row in enumerate(table["rows"])
        for column, text in enumerate(row)
        if wanted and plain(text) == wanted
    ]
    named = _named_rows(question, table["rows"])
    fitting = [cell for cell in cells if cell.row in named]
    if len(fitting) != 1 or len(named) > 5 or f" {wanted} " in f" {plain(question)} ":
        return None
    return fitting[0]


def _named_rows(question: str, rows: Sequence[Sequence[str]]) -> set[int]:
    """Rows with a cell of which the question has at least two thirds of the words, or its only word."""
    asked = set(plain(question).split())

    def named(cell: str) -> bool:
        words = [word for word in plain(cell).split() if len(word) > 2 or word.isdigit()]
        return bool(words) and sum(word in asked for word in words) * 3 >= len(words) * 2 and len(plain(cell)) > 2

    return {number for number, row in enumerate(rows) if any(named(cell) for cell in row)}


def shown(question: str, table: Mapping[str, Any], cell: Cell) -> tuple[Shown, tuple[Shown, ...]]:
    """The passage of rows that holds the cell, and those of other rows without the answer, nearest first."""
    answer = table["rows"][cell.row][cell.column]
    gold, others = None, []
    for rows in windows(table):
        text, start = "", 0
        for number in rows:
            line, places = row_text(table["header"], table["rows"][number])
            if number == cell.row:
                start = len(text) + places[cell.column][0]
            text += line + "\n"
        passage = text.rstrip("\n")
        if cell.row in rows:
            spans = ((start, start + len(answer)),)
            gold = Shown(table["title"], table.get("section") or "", passage, spans, True)
        elif not holds(passage, [answer]):
            others.append(Shown(table["title"], table.get("section") or "", passage, (), False))
    assert gold is not None
    others.sort(key=lambda one: -shared_words(question, one.text))
    return gold, tuple(others[:4])


def windows(table: Mapping[str, Any]) -> Iterator[list[int]]:
    """Consecutive rows of up to PASSAGE characters."""
    run: list[int] = []
    size = 0
    for number, row in enumerate(table["rows"]):
        length = len(row_text(table["header"], row)[0])
        if run and size + length > PASSAGE:
            yield run
            run, size = [], 0
        run.append(number)
        size += length
    if run:
        yield run


def row_text(header: Sequence[str], cells: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """A row with the names of its columns, and where each cell stands in that text."""
    text, places = "", []
    for number, cell in enumerate(cells):
        name = header[number] if number < len(header) else ""
        text += (" | " if text else "") + (f"{name}: " if name else "")
        places.append((len(text), len(text) + len(cell)))
        text += cell
    return text, places
