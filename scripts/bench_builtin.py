"""Scores the built-in mind end to end on a file of questions, and lists the failures by cause.

    python scripts/bench_builtin.py evaluation/starter_questions.jsonl [--corpus NAME] [--show all|wrong|none]

A question counts as right when an accepted answer stands in the short answer or the other way round, after
normalisation; a false premise or an unanswerable question when the mind abstains.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iterative_rag import IterativeRAG
from iterative_rag.types import Answer, Status


def normalised(text: str) -> str:
    """Lower case, no accents, articles or punctuation; thousands without commas."""
    text = unicodedata.normalize("NFKD", text.lower().replace("ł", "l"))
    text = "".join(character for character in text if not unicodedata.combining(character))
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"\b(the|a|an)\b", " ", text)
    return " ".join(re.sub(r"[^\w.]|(?<!\d)\.|\.(?!\d)", " ", text).split())


def is_right(answer: Answer, row: dict[str, Any]) -> bool:
    if row.get("kind", "answerable") != "answerable":
        return answer.status is Status.ABSTAINED
    if answer.status is not Status.ANSWERED:
        return False
    given = f" {normalised(answer.short_answer)} "
    accepted = [normalised(text) for text in (row["Answer"], *row.get("aliases", []))]
    return any(f" {text} " in given or (len(given) > 4 and given in f" {text} ") for text in accepted if text)


def cause(answer: Answer, row: dict[str, Any]) -> str:
    """Where a wrong answer went wrong, as far as the trace shows it."""
    if row.get("kind", "answerable") != "answerable":
        return "answered what the corpus does not hold"
    if answer.status is Status.INCOMPLETE:
        return "cap reached"
    wanted = {unquote(link.rsplit("/", 1)[-1]).replace("_", " ").casefold() for link in row.get("wiki_links", [])}
    seen = {title.casefold() for hop in answer.hops for title in hop.shortlist}
    if not answer.hops:
        return "not split"
    if wanted - seen:
        return "article not in a shortlist" if answer.status is Status.ABSTAINED else "wrong, an article never seen"
    return "abstained, all articles seen" if answer.status is Status.ABSTAINED else "wrong, all articles seen"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--corpus", default="")
    parser.add_argument("--show", choices=("all", "wrong", "none"), default="wrong")
    parser.add_argument("--only", default="", help="ids, separated by commas")
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.questions for line in path.read_text(encoding="utf-8").splitlines()]
    only = set(filter(None, options.only.split(",")))
    rows = [row for row in rows if not only or row.get("id") in only]
    overrides = {"llm": "builtin", "cache": False, **({"corpus": options.corpus} if options.corpus else {})}
    rag = IterativeRAG.from_settings(**overrides)
    right, causes, seconds = Counter[str](), Counter[str](), []
    for row in rows:
        begun = time.perf_counter()
        answer = rag.ask(row["Prompt"])
        seconds.append(time.perf_counter() - begun)
        good = is_right(answer, row)
        right[f"{row.get('kind', 'answerable')}: {'right' if good else 'wrong'}"] += 1
        if not good:
            causes[cause(answer, row)] += 1
        if options.show == "all" or (options.show == "wrong" and not good):
            show(row, answer, good, seconds[-1])
    rag.close()
    total = sum(count for name, count in right.items() if name.endswith("right"))
    print(f"\n{total} of {len(rows)} right ({total / max(1, len(rows)):.0%})  {dict(right)}")
    for name, count in causes.most_common():
        print(f"  {count:3d}  {name}")
    print(f"seconds a question: median {sorted(seconds)[len(seconds) // 2]:.2f}, most {max(seconds):.2f}")


def show(row: dict[str, Any], answer: Answer, good: bool, seconds: float) -> None:
    print(f"\n{'ok   ' if good else 'WRONG'} {row.get('id', '')} ({seconds:.2f} s) {row['Prompt']}")
    print(f"   wanted: {row['Answer']}\n   given:  [{answer.status}] {answer.short_answer!r} {answer.reason}")
    for hop in answer.hops:
        for need in hop.needs:
            facts = [
                f"{fact.value!r} {fact.score:.2f} ({fact.title})" for fact in hop.facts if fact.need.question == need
            ]
            print(f"   {hop.n}. {need}\n        {'; '.join(facts[:4]) or '-'}")


if __name__ == "__main__":
    main()
