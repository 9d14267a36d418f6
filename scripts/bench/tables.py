"""How many questions on the tables of whole pages the built-in backend answers, asked of a corpus of the pages.

python -m scripts.bench.tables --data FOLDER [--part aside|train] [--most N]
"""

from __future__ import annotations

import random
import re
from collections import Counter

from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.tables.reading_choice import trust
from iterative_rag.builtin.tables.table_answers import picks_of
from iterative_rag.builtin.tables.table_question import read_table_question
from iterative_rag.types.outcomes import Status
from scripts.bench import harness
from scripts.train.evidence import files
from scripts.train.evidence.aside import ASIDE
from scripts.train.table_questions import PAGES, PageItem, is_right, page_items, page_part

_LISTED = re.compile(r", | and ")


def questions(data: harness.Named, part: str = ASIDE, most: int = 200) -> None:
    """Are the cells of a table whole in the page's text, is the table that a question is about chosen, and is the
    answer right: questions of WikiTableQuestions, the pages added to a corpus as files of HTML."""
    with harness.own_home() as folder:
        for at, row in enumerate(row for row in files.rows(data, PAGES) if page_part(row["title"]) == part):
            page = f"<html><head><title>{row['title']}</title></head><body>{row['html']}</body></html>"
            (folder / f"{at}.html").write_text(page, encoding="utf-8")
        settings = Settings(corpus="pages", cache=False, llm="builtin")
        index_paths(sorted(folder.glob("*.html")), settings=settings, corpus="pages")
        rag, tally = IterativeRAG.from_settings(settings), Counter[str]()
        asked = list(page_items(data, part))
        for item in random.Random(11).sample(asked, min(most, len(asked))):
            tally.update(judged(item, rag))
    shares = {"cells whole": "cells", "right table": "read", "answered": "asked", "right": "asked", "wrong": "answered"}
    harness.show(
        {"figure": name, "share": f"{tally[name]} of {tally[whole]}: {100 * tally[name] / max(1, tally[whole]):.1f} %"}
        for name, whole in shares.items()
    )


def judged(item: PageItem, rag: IterativeRAG) -> Counter[str]:
    """What one question adds to each count."""
    question = read_table_question(read_query(item.question))
    picks = picks_of(question, item.tables)
    best = max(picks, key=lambda pick: trust(question, *pick))[0].table if picks else None
    answer = rag.ask(item.question)
    values = _LISTED.split(answer.short_answer) if len(item.answers) > 1 else [answer.short_answer]
    answered = answer.status is Status.ANSWERED
    right = answered and is_right(values, item.answers)
    counts = {"asked": 1, "cells": item.cells, "cells whole": item.whole, "read": bool(picks)}
    judgement = {"right table": best is item.meant, "answered": answered, "right": right, "wrong": answered > right}
    return Counter(counts | judgement)


if __name__ == "__main__":
    harness.run(questions)
