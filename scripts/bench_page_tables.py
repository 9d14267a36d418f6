"""What whole tables in a page are worth: the same questions of the same pages without tables, flattened, and whole.

    python -m scripts.bench_page_tables --data FOLDER --out FOLDER [--most N] [--alone] [--llm SPEC]

Questions of WikiTableQuestions on pages whose prose is at hand (`frames/pages.jsonl.gz`); with `--alone`, N drawn from
the articles set aside (scripts/train/evidence/aside.py), whose pages are their tables alone. Each page takes three
forms: `none` (a plain-text extract), `flat` (a cell a line, as many extractors leave tables) and `whole` (a Markdown
table under its heading, as `corpus fetch` stores it). Every question searches its own page. The runs lie in `--out`
and resume.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from iterative_rag.evaluation.metrics.statistics import mcnemar
from iterative_rag.evaluation.running.run_folder import RunFolder, read_run
from iterative_rag.sources.markdown_table import line, rule
from scripts.train.evidence.aside import TABLES_PERCENT, article, drawn

FORMS = ("none", "flat", "whole")
SEED = 5
Row = Mapping[str, Any]


def lines(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def page_of(prose: str, table: Row, form: str) -> str:
    """The page in one form: prose, then the section of the table."""
    heading = f"\n\n## {table['section'].replace('|', ', ')}\n\n"
    rows: Sequence[Sequence[str]] = [table["header"], *table["rows"]]
    if form == "none":
        return prose or table["title"]
    if form == "flat":
        return prose + heading + "\n".join(cell for row in rows for cell in row if cell)
    return prose + heading + "\n".join([line(rows[0]), rule(len(rows[0])), *map(line, rows[1:])])


def questions(data: Path, *, alone: bool, most: int) -> list[tuple[Row, Row, str]]:
    """Question, table and prose; drawn by a seed where there are more than wanted."""
    tables = {row["table"]: row for row in lines(data / "tables" / "wikitablequestions_tables.jsonl.gz")}
    prose = {} if alone else {row["title"]: row["text"] for row in lines(data / "frames" / "pages.jsonl.gz")}
    found = []
    for question in lines(data / "tables" / "wikitablequestions_train.jsonl.gz"):
        table = tables[question["table"]]
        aside = drawn(article(table["title"]), TABLES_PERCENT)
        if aside if alone else table["title"] in prose:
            found.append((question, table, prose.get(table["title"], "")))
    return random.Random(SEED).sample(found, most) if len(found) > most else found


def write_dataset(path: Path, chosen: Sequence[tuple[Row, Row, str]], form: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for question, table, prose in chosen:
            page = {"title": table["title"], "text": page_of(prose, table, form), "supporting": True}
            made = {"id": question["id"], "question": question["question"], "answers": question["answers"]}
            file.write(json.dumps({**made, "paragraphs": [page]}) + "\n")


def run(out: Path, form: str, llm: str) -> RunFolder:
    command = [sys.executable, "-m", "iterative_rag", "evaluate", "run", "--dataset", str(out / f"{form}.jsonl")]
    command += ["--corpus", "own", "--llm", llm, "--guess", "--out", str(out / form), "-q", "-c", "2"]
    environment = {**os.environ, "ITERATIVE_RAG_HOME": str(out / "home")}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return read_run(out / form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--llm", default="builtin")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    chosen = questions(wanted.data, alone=wanted.alone, most=wanted.most)
    right: dict[str, list[bool]] = {}
    print(f"{len(chosen)} questions of {len({table['title'] for _, table, _ in chosen})} pages")
    for form in FORMS[1:] if wanted.alone else FORMS:
        write_dataset(wanted.out / f"{form}.jsonl", chosen, form)
        records = run(wanted.out, form, wanted.llm).records
        right[form] = [record.right is True for record in records]
        given = sum(bool(record.short_answer) for record in records)
        seconds = sum(record.spent.seconds for record in records) / max(1, len(records))
        print(f"{form:<6} right {sum(right[form]):3} of {len(records)}, answered {given:3}, {seconds:.1f} s a question")
    for form in list(right)[:-1]:
        pairs = list(zip(right[form], right["whole"], strict=True))
        gained, lost = pairs.count((False, True)), pairs.count((True, False))
        print(f"whole against {form}: {gained} gained, {lost} lost, McNemar p = {mcnemar(gained, lost):.3g}")


if __name__ == "__main__":
    main()
