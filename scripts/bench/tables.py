"""How many questions on the tables of whole pages the built-in backend answers.

python -m scripts.bench.tables --data FOLDER [--part aside|train] [--most N]
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.builtin.tables.page_tables import PageTable, tables
from iterative_rag.builtin.tables.table_answers import table_answers
from iterative_rag.sources.formats import html
from scripts.bench import harness
from scripts.train.data import plain
from scripts.train.evidence import files
from scripts.train.evidence.aside import parts

_MEANS_PAGE = re.compile(r"\bthis (?:team|club|player|band|artist|actor|actress|driver|season|show|series|event)\b")
_NOTES = re.compile(r"\[[\w\s]{1,20}\]|[*^\\]")


def questions(
    data: harness.Named, starter: Path = harness.ROOT / "input_wikipedia", part: str = "train", most: int = 100_000
) -> None:
    """Are the cells of a page's tables whole in its text, is the table that a question is about chosen, and is the
    answer right: questions of WikiTableQuestions asked of the whole page, which is read as a file of HTML.

    `part` as scripts/train/evidence/aside.py deals pages out; `given`: answered at the threshold of answers.
    """
    known = parts(data, starter)
    pages = {row["title"]: row["html"] for row in harness.rows_of(data / "wikipages" / "pages.jsonl.gz")}
    rows = {row["table"]: row["rows"] for row in files.rows(data, files.TABLES)}
    gold = {row["id"]: rows[row["table"]] for row in files.rows(data, files.QUESTIONS_ON_TABLES)}
    every = harness.rows_of(data / "wikipages" / "questions.jsonl.gz")
    asked = [row for row in every if part == known.part([row["title"]])]
    texts: dict[str, tuple[str, tuple[PageTable, ...]]] = {}
    tally: Counter[str] = Counter()
    for row in random.Random(11).sample(asked, min(most, len(asked))):
        title = row["title"]
        if title not in texts:
            text = html.page(f"<title>{title}</title>{pages[title]}", title, title).text
            texts[title] = text, tables(text, title)
        tally.update(judged(row, gold[row["id"]], *texts[title]))
    harness.show(
        {"figure": name, "share": f"{count} of {whole}: {100 * count / max(1, whole):.1f} %"}
        for name, count, whole in (
            ("cells whole", tally["whole"], tally["cells"]),
            ("right table, of those with an answer", tally["own table"], tally["any"]),
            *((name, tally[name], tally["asked"]) for name in ("right", "given")),
            ("right of those given", tally["given right"], tally["given"]),
        )
    )


def judged(row: dict[str, Any], gold: list[list[str]], text: str, page_tables: tuple[PageTable, ...]) -> Counter[str]:
    """What one question adds to each count."""
    wanted = [bare for line in gold for cell in line if (bare := plain(_NOTES.sub("", cell)))]
    held = [{plain(_NOTES.sub("", cell.text)) for line in table.rows for cell in line.cells} for table in page_tables]
    whole = [sum(cell in cells for cell in wanted) - len(cells) / 100 for cells in held]
    own = page_tables[whole.index(max(whole))] if whole else None
    title, asks = row["title"], row["question"]
    named = _MEANS_PAGE.sub(title, asks) if _MEANS_PAGE.search(asks) else f"{title}: {asks}"
    best = next(iter(table_answers(read_query(named), text, page_tables)), None)
    counts = Counter(
        asked=1, cells=len(wanted), whole=max((sum(c in cells for c in wanted) for cells in held), default=0)
    )
    if best is not None:
        right = sorted(map(plain, best.values)) == sorted(map(plain, row["answers"]))
        given = best.trust >= CAREFUL.given
        ours = own is not None and any(line.text == best.quotes[0][0] for line in own.rows)
        counts.update({"any": 1, "own table": ours, "right": right, "given": given, "given right": given and right})
    return counts


if __name__ == "__main__":
    harness.run(questions)
