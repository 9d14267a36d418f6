"""A table of facts, one row an article, as CSV: each value with the quote that it was read from.

    python examples/fact_table.py "height=How tall is {title}?" "opened=When was {title} opened?" \
        --titles "*Bridge*" --llm ollama/llama3.1:8b > bridges.csv

For a category of Wikipedia fetch its articles first, which makes a corpus of them:

    iterative-rag corpus fetch --category Lighthouses --limit 50 --corpus lighthouses --contact you@example.org
    python examples/fact_table.py "built=When was {title} built?" --corpus lighthouses
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch

from iterative_rag import IterativeRAG, IterativeRAGError, Status


def row(rag: IterativeRAG, title: str, columns: Mapping[str, str]) -> Iterator[str]:
    """The title, then a value and its quotes for each column; a cell without a quote stays empty."""
    article = rag.among(title)  # so that no other article can answer
    yield title
    for question in columns.values():
        answer = article.ask(question.replace("{title}", title))
        if answer.fault:  # an empty cell would say that the article does not tell
            raise IterativeRAGError(answer.fault.message, hint=answer.fault.hint)
        proved = answer.status is Status.ANSWERED and answer.citations
        yield answer.short_answer if proved else ""
        yield " / ".join(citation.display for citation in answer.citations) if proved else ""


def cell(text: str) -> str:
    """The text, of which a spreadsheet makes no formula: articles are not to be trusted."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("columns", nargs="+", metavar="NAME=QUESTION", help="{title} stands for the article")
    parser.add_argument("--titles", default="*", help="pattern of the titles that get a row")
    parser.add_argument("--llm", default="auto", help="ollama/MODEL, openai-like/MODEL@URL, builtin ...")
    parser.add_argument("--corpus", default="", help="a corpus that was indexed before")
    given = parser.parse_args(arguments)
    columns = dict(one.split("=", 1) for one in given.columns if "=" in one)
    if len(columns) < len(given.columns):
        parser.error("a column is NAME=QUESTION, each with a name of its own")
    table = csv.writer(sys.stdout)
    table.writerow(["title", *(head for name in columns for head in (name, f"{name}: quote"))])
    try:
        with IterativeRAG.from_settings(llm=given.llm, corpus=given.corpus) as rag:
            for title in dict.fromkeys(title for title in rag.titles() if fnmatch(title, given.titles)):
                table.writerow(map(cell, row(rag, title, columns)))
                sys.stdout.flush()  # a long table can be watched, and what is done survives an interruption
    except IterativeRAGError as error:
        sys.exit(f"{error} {error.hint}".strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
