"""How many questions on tables the built-in backend answers.

python -m scripts.bench.tables --data FOLDER [--part aside|train] [--most N]
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.builtin.tables.reading_choice import choose, trust
from iterative_rag.builtin.tables.table_answers import names_known
from iterative_rag.builtin.tables.table_question import read_table_question
from scripts.bench import harness
from scripts.train.table_questions import TableItem, items

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
    harness.run(questions)
