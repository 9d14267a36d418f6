"""Questions on tables: what whole tables in a page are worth, and how many the built-in backend answers.

python -m scripts.bench.tables pages --data FOLDER --out FOLDER [--most N] [--alone] [--llm SPEC]
python -m scripts.bench.tables questions --data FOLDER [--part aside|train] [--most N]
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.builtin.tables.reading_choice import choose, trust
from iterative_rag.builtin.tables.table_answers import names_known
from iterative_rag.builtin.tables.table_question import read_table_question
from iterative_rag.evaluation.metrics.statistics import mcnemar
from iterative_rag.evaluation.running.run_folder import read_run
from iterative_rag.sources.formats.table_part import table_line, table_text
from scripts.bench import harness
from scripts.train.evidence.aside import TABLES_PERCENT, article, drawn
from scripts.train.table_questions import TableItem, items

FORMS = ("none", "flat", "whole")
Row = Mapping[str, Any]


def pages(data: harness.Named, out: harness.Named, most: int = 100, alone: bool = False, llm: str = "builtin") -> None:
    """The same questions of the same pages without tables, flattened, and whole.

    Questions of WikiTableQuestions on pages whose prose is at hand (`frames/pages.jsonl.gz`); with `--alone`, N drawn
    from the articles set aside (scripts/train/evidence/aside.py), whose pages are their tables alone. Each page takes
    three forms: `none` (a plain-text extract), `flat` (a cell a line, as many extractors leave tables) and `whole` (a
    Markdown table under its heading, as `corpus fetch` stores it). Every question searches its own page. The runs lie
    in `--out` and resume.
    """
    out.mkdir(parents=True, exist_ok=True)
    tables = {row["table"]: row for row in harness.rows_of(data / "tables" / "wikitablequestions_tables.jsonl.gz")}
    texts = [] if alone else harness.rows_of(data / "frames" / "pages.jsonl.gz")
    prose = {row["title"]: row["text"] for row in texts}
    chosen = [
        (question, table)
        for question in harness.rows_of(data / "tables" / "wikitablequestions_train.jsonl.gz")
        for table in [tables[question["table"]]]
        if (drawn(article(table["title"]), TABLES_PERCENT) if alone else table["title"] in prose)
    ]
    chosen = random.Random(5).sample(chosen, most) if len(chosen) > most else chosen
    print(f"{len(chosen)} questions of {len({table['title'] for _, table in chosen})} pages")
    right: dict[str, list[bool]] = {}
    for form in FORMS[1:] if alone else FORMS:
        with (out / f"{form}.jsonl").open("w", encoding="utf-8") as file:
            for question, table in chosen:
                text = page_of(prose.get(table["title"], ""), table, form)
                page = {"title": table["title"], "text": text, "supporting": True}
                made = {name: question[name] for name in ("id", "question", "answers")}
                file.write(json.dumps({**made, "paragraphs": [page]}) + "\n")
        command = [sys.executable, "-m", "iterative_rag", "evaluate", "run", "--dataset", str(out / f"{form}.jsonl")]
        command += ["--corpus", "own", "--llm", llm, "--guess", "--out", str(out / form), "-q", "-c", "2"]
        environment = {**os.environ, "ITERATIVE_RAG_HOME": str(out / "home")}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        records = read_run(out / form).records
        right[form] = [record.right is True for record in records]
        answered = sum(bool(record.short_answer) for record in records)
        print(f"{form:<6} right {harness.share(right[form])}, answered {answered}")
    for form in list(right)[:-1]:
        pairs = list(zip(right[form], right["whole"], strict=True))
        gained, lost = pairs.count((False, True)), pairs.count((True, False))
        print(f"whole against {form}: {gained} gained, {lost} lost, McNemar p = {mcnemar(gained, lost):.3g}")


def page_of(prose: str, table: Row, form: str) -> str:
    """The page in one form: prose, then the section of the table."""
    heading = f"\n\n## {table['section'].replace('|', ', ')}\n\n"
    rows: Sequence[Sequence[str]] = [table["header"], *table["rows"]]
    if form == "none":
        return prose or table["title"]
    if form == "flat":
        return prose + heading + "\n".join(cell for row in rows for cell in row if cell)
    return prose + heading + table_text(rows[0], map(table_line, rows[1:]))


# The kinds of questions that are no look-ups, in this order.
KINDS = {
    "sum, difference": r"\b(?:total|difference|average|combined|sum|how many more|how much (?:more|\w+er)|between)\b",
    "count": r"\b(?:how many|number of|how often)\b",
    "superlative": r"\b(?:most|least|fewest|highest|lowest|\w{3,}est|best|worst|top|more|less|\w+er than)\b",
    "order": r"\b(?:first|last|next|previous|before|after|following|final|latest|earliest|consecutive)\b",
}


def questions(
    data: harness.Named, starter: Path = harness.ROOT / "input_wikipedia", part: str = "train", most: int = 100_000
) -> None:
    """How many questions on tables are answered right, by kind, and how often the tables refuse.

    WikiTableQuestions on articles of one part (scripts/train/evidence/aside.py deals them out): look-ups as
    scripts/train/evidence/tables.py knows them, the others by their words. `right` is the share of all questions where
    the likeliest reading has the right values, `given` the share that is answered at the threshold of answers, and
    `wrong` the share of those that are wrong.
    """
    asked = list(items(data, starter, part))
    tallies: dict[str, Counter[str]] = {}
    sure: list[tuple[float, bool]] = []
    for item in random.Random(11).sample(asked, min(most, len(asked))):
        query = read_query(item.question)
        question = read_table_question(query)
        pick = choose(question, item.table) if names_known(query, item.table) else None
        right = pick is not None and item.is_right(pick.reading.values)
        sure.append((trust(question, pick) if pick is not None else 0.0, right))
        given = pick is not None and sure[-1][0] >= CAREFUL.given
        counts = {"right": right, "given": given, "wrong": given and not right, "no reading": pick is None}
        for name in (kind(item), "all"):
            tallies.setdefault(name, Counter()).update({"asked": 1, **counts})
    harness.show(
        {"kind": name, "asked": tally["asked"]}
        | {count: f"{100 * tally[count] / tally['asked']:.1f} %" for count in ("right", "given", "no reading")}
        | {"wrong of those given": f"{100 * tally['wrong'] / max(1, tally['given']):.1f} %"}
        for name, tally in sorted(tallies.items(), key=lambda entry: (entry[0] == "all", entry[0]))
    )
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        print(
            f"trust {low:.1f} to {low + 0.2:.1f}: {harness.share([ok for one, ok in sure if low <= one < low + 0.2])}"
        )


def kind(item: TableItem) -> str:
    if item.look_up:
        return "look-up"
    named = next((name for name, words in KINDS.items() if re.search(words, item.question.casefold())), "")
    return named or ("list, filter" if len(item.answers) > 1 else "other look-up")


if __name__ == "__main__":
    harness.run(pages, questions)
