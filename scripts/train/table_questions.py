"""WikiTableQuestions as pages: single tables in Markdown and whole pages in HTML, parsed as the built-in backend does.

Of the whole pages some are set aside by their title; no table of any of them is among the single ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from iterative_rag.builtin.tables.page_tables import PageTable, tables
from iterative_rag.sources.formats import html
from scripts.train.data import plain
from scripts.train.evidence import files
from scripts.train.evidence.aside import ASIDE, KEPT, TRAIN, article, parts

PAGES, ASKED = "wikipages/pages.jsonl.gz", "wikipages/questions.jsonl.gz"
_MEANS_PAGE = re.compile(r"\bthis (?:team|club|player|band|artist|actor|actress|driver|season|show|series|event)\b")
# Marks of notes, and the second form of coordinates, which pages hide from their readers.
_NOTES = re.compile(r"\[[\w\s]{1,20}\]|[*^\\]|(?<=[NSEW])\W* / \W*\d[\d.]*°.*")
_UNIT = re.compile(r"\s?[a-z]+$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class PageItem:
    """A question on a whole page; `meant` is the table that most cells of its own stand in, `whole` of `cells`."""

    title: str
    question: str
    answers: tuple[str, ...]
    tables: tuple[PageTable, ...]
    meant: PageTable | None
    whole: int
    cells: int


def is_right(values: Sequence[str], answers: Sequence[str]) -> bool:
    """Whether values are the answers, in any order; numbers however they are written."""
    return len(values) == len(answers) and all(any(_same(value, answer) for value in values) for answer in answers)


@lru_cache(maxsize=65536)
def _same(value: str, answer: str) -> bool:
    numbers = [_NUMBER.fullmatch(re.sub(r"[,\s$€£%]", "", _UNIT.sub("", text.lower()))) for text in (value, answer)]
    if all(numbers):
        return len({float(number[0]) for number in numbers if number}) == 1
    return plain(value) == plain(answer)


def page_part(title: str) -> str:
    """Whether a whole page is trained on or set aside: about one in four."""
    return ASIDE if int(hashlib.sha1(f"rows{title}".encode()).hexdigest(), 16) % 250 < 60 else TRAIN


def items(folder: Path) -> Iterator[tuple[str, tuple[str, ...], PageTable]]:
    """The questions on single tables that are trained on, with their answers."""
    known = parts(folder, Path("input_wikipedia"))
    stored = {article(row["title"]) for row in files.rows(folder, PAGES)}
    rows = {row["table"]: row for row in files.rows(folder, files.TABLES)}
    parsed = cache(lambda key: page_table(rows[key]))
    for row in files.rows(folder, files.QUESTIONS_ON_TABLES):
        title = rows[row["table"]]["title"]
        if article(title) not in stored and known.part([title]) != KEPT and (page := parsed(row["table"])) is not None:
            yield row["question"], tuple(row["answers"]), page


def page_items(folder: Path, part: str) -> Iterator[PageItem]:
    """The questions on whole pages of a part, in which the page is named: "this team" means its article."""
    shown = {row["title"]: row["html"] for row in files.rows(folder, PAGES) if page_part(row["title"]) == part}
    rows = {row["table"]: row["rows"] for row in files.rows(folder, files.TABLES)}
    gold = {row["id"]: rows[row["table"]] for row in files.rows(folder, files.QUESTIONS_ON_TABLES)}
    parsed = cache(lambda title: tables(html.page(f"<title>{title}</title>{shown[title]}", title, title).text, title))
    for row in (row for row in files.rows(folder, ASKED) if row["title"] in shown):
        title, asks = row["title"], row["question"]
        named = _MEANS_PAGE.sub(title, asks) if _MEANS_PAGE.search(asks) else f"{title}: {asks}"
        wanted = [bare for line in gold[row["id"]] for cell in line if (bare := plain(_NOTES.sub("", cell)))]
        whole = [sum(cell in _cells(table) for cell in wanted) for table in parsed(title)]
        near = [count - len(_cells(table)) / 100 for count, table in zip(whole, parsed(title), strict=True)]
        meant = parsed(title)[near.index(max(near))] if near else None
        yield PageItem(title, named, tuple(row["answers"]), parsed(title), meant, max(whole, default=0), len(wanted))


@cache
def _cells(table: PageTable) -> frozenset[str]:
    return frozenset(plain(_NOTES.sub("", cell.text)) for line in table.rows for cell in line.cells)


def page_table(table: Mapping[str, Any]) -> PageTable | None:
    """The table of an article with this table alone."""
    section = (table.get("section") or "").split("|")[-1]
    lines = [table["header"], ["---"] * len(table["header"]), *table["rows"]]
    shown = [[" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines]
    rows = ["| " + " | ".join(line) + " |" for line in shown]
    text = "\n".join([f"# {table['title']}", "", *([f"## {section}", ""] if section else []), *rows, ""])
    return next(iter(tables(text, table["title"])), None)
