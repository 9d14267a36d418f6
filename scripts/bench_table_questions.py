"""How many questions on tables are answered right, by kind, and how often the tables refuse.

    python -m scripts.bench_table_questions --data FOLDER [--part aside|train] [--most N]

WikiTableQuestions on articles of one part (scripts/train/evidence/aside.py deals them out): look-ups as
scripts/train/evidence/tables.py knows them, the others by their words. `right` is the share of all questions where the
likeliest reading has the right values, `given` the share that is answered at the threshold of answers, and `wrong`
the share of those that are wrong.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.builtin.tables.reading_choice import choose
from iterative_rag.builtin.tables.table_answers import names_known
from iterative_rag.builtin.tables.table_question import read_table_question
from iterative_rag.builtin.tables.table_trust import trust
from scripts.train.table_questions import TableItem, items

ROOT = Path(__file__).resolve().parents[1]
SEED = 11
# The kinds of questions that are no look-ups, in this order.
KINDS = {
    "sum, difference": r"\b(?:total|difference|average|combined|sum|how many more|how much (?:more|\w+er)|between)\b",
    "count": r"\b(?:how many|number of|how often)\b",
    "superlative": r"\b(?:most|least|fewest|highest|lowest|\w{3,}est|best|worst|top|more|less|\w+er than)\b",
    "order": r"\b(?:first|last|next|previous|before|after|following|final|latest|earliest|consecutive)\b",
}


@dataclass
class Tally:
    """Of the questions of one kind: how many, and what became of them."""

    asked: int = 0
    right: int = 0
    given: int = 0
    wrong: int = 0
    silent: int = 0
    sure: list[tuple[float, bool]] = field(default_factory=list)

    def line(self, name: str) -> str:
        asked, given = 100 / max(1, self.asked), 100 / max(1, self.given)
        return (
            f"{name:<16} {self.asked:5}  right {asked * self.right:5.1f} %   given {asked * self.given:5.1f} %"
            f"   wrong of those {given * self.wrong:5.1f} %   no reading {asked * self.silent:5.1f} %"
        )


def kind(item: TableItem) -> str:
    if item.look_up:
        return "look-up"
    low = item.question.casefold()
    named = next((name for name, words in KINDS.items() if re.search(words, low)), "")
    return named or ("list, filter" if len(item.answers) > 1 else "other look-up")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with tables/ and the other data")
    parser.add_argument("--starter", type=Path, default=ROOT / "input_wikipedia")
    parser.add_argument("--part", choices=("aside", "train"), default="train")
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--look-ups", action="store_true", help="look-ups alone")
    arguments = parser.parse_args()
    asked = list(items(arguments.data, arguments.starter, arguments.part))
    asked = [item for item in asked if item.look_up or not arguments.look_ups]
    asked = random.Random(SEED).sample(asked, min(arguments.most, len(asked)))
    tallies: dict[str, Tally] = defaultdict(Tally)
    for item in asked:
        query = read_query(item.question)
        question = read_table_question(query)
        pick = choose(question, item.table) if names_known(query, item.table) else None
        right = pick is not None and item.is_right(pick.reading.values)
        sure = trust(question, pick) if pick is not None else 0.0
        given = pick is not None and sure >= CAREFUL.given
        for tally in (tallies[kind(item)], tallies["all"]):
            tally.asked += 1
            tally.right += right
            tally.given += given
            tally.wrong += given and not right
            tally.silent += pick is None
            tally.sure.append((sure, right))
    for name in sorted(tallies, key=lambda name: (name == "all", name)):
        print(tallies[name].line(name))
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        within = [right for sure, right in tallies["all"].sure if low <= sure < low + 0.2]
        print(f"trust {low:.1f} to {low + 0.2:.1f}: {len(within):5}, right {sum(within) / max(1, len(within)):.2f}")


if __name__ == "__main__":
    main()
