"""Look-up questions made from tables: "What is the venue of the 1990 European Championships?" and its like.

The questions of people on tables mostly count, compare or order rows; those that look one cell up are too few to learn
from. A row is named by one of its cells that no other row has, and another of its columns is asked for.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.train.data import plain
from scripts.train.evidence import files, tables
from scripts.train.evidence.aside import TRAIN, Parts
from scripts.train.evidence.asked import Asked, holds

EACH = 6  # questions on a table in an epoch, at most
LONGEST_CELL = 60
_FORMS = (
    "What is the {column} of {key}?",
    "what {column} did {key} have?",
    "Which {column} belongs to {key}?",
    "What was the {column} for {key}?",
    "{key} {column}",
    "what is the {column} where the {naming} is {key}?",
    "In the {section} of {title}, what is the {column} of {key}?",
    "Which {column} is listed for the {naming} {key}?",
)
_BY_COLUMN = (
    (("date", "year", "released", "born", "founded"), ("When was {key}?", "In which {column} was {key}?")),
    (("player", "name", "winner", "driver", "director", "author", "artist"), ("Who is the {column} of {key}?",)),
    (("venue", "location", "city", "place", "country"), ("Where was {key}?", "In which {column} was {key}?")),
    (("score", "points", "total", "population", "goals", "length", "height"), ("How many {column} does {key} have?",)),
)


def made(folder: Path, parts: Parts, seed: str) -> Iterator[Asked]:
    """Look-ups on the tables of articles that are trained on."""
    chance = random.Random(seed)
    for table in files.rows(folder, files.TABLES):
        if parts.part([table["title"]]) != TRAIN:
            continue
        offered = look_ups(table)
        for row, named, wanted in chance.sample(offered, min(EACH, len(offered))):
            yield _asked(table, row, named, wanted, chance)


def look_ups(table: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """(row, column that names it, column asked for): a name is a cell with letters that stands in one row only, or a
    year in the first column."""
    rows = table["rows"]
    often = Counter(plain(cell) for row in rows for cell in set(row))
    found = []
    for number, row in enumerate(rows):
        cells = [plain(cell) for cell in row]
        fit = [bool(text) and len(cell) <= LONGEST_CELL for text, cell in zip(cells, row, strict=True)]
        for named, text in enumerate(cells):
            names = sum(letter.isalpha() for letter in text) > 2 or (named == 0 and re.fullmatch(r"\d{4}", text))
            if fit[named] and names and often[text] == 1:
                columns = range(min(len(row), len(table["header"])))
                found += [(number, named, wanted) for wanted in columns if wanted != named and fit[wanted]]
    return found


def _asked(table: Mapping[str, Any], row: int, named: int, wanted: int, chance: random.Random) -> Asked:
    header: Sequence[str] = table["header"]
    answer = table["rows"][row][wanted]
    column, naming = (header[place].replace("\n", " ").strip().lower() or "entry" for place in (wanted, named))
    forms: tuple[str, ...] = _FORMS
    for words, more in _BY_COLUMN:
        if any(word in column for word in words):
            forms = (*forms, *more, *more)
    slots = {
        "key": table["rows"][row][named],
        "column": column,
        "naming": naming,
        "title": table["title"],
        "section": table.get("section") or "table",
    }
    question = chance.choice(forms).format_map(slots)
    gold, others = tables.shown(question, table, tables.Cell(row, wanted))
    if chance.random() < 0.15:
        # The question without its row: neither the row nor the table answers it.
        apart = tuple(one for one in others if not holds(one.text, [slots["key"]]))
        if apart:
            return Asked(TRAIN, "made_table", question, (), (apart[0],))
    return Asked(TRAIN, "made_table", question, (answer,), (gold,), others)
