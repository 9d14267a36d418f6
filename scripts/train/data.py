"""What the models are trained and measured on: records of the data folder, and the rules that split them.

Only files that may be trained on are read here. Two splits keep the figures honest:

* `held_out` sets whole articles of the reading data aside, so that no passage is read in training and measured later;
* `half` deals the 2WikiMultihopQA and MuSiQue questions into A (trained on) and B (measured on) by their ids.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HELD_OUT_PERCENT = 8
MOST_OF_A_SOURCE = {"made": 110, "absent": 50, "check": 50}
YES, NO = 1, 2  # 0 is a span
KINDS = ("span", "yes", "no")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with the title of its article ("" where there is none)."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Gold:
    """A passage that belongs to a question, and what is to be learnt from it (None: nothing).

    `spans` are character offsets of the answer in the passage; `relevant` says whether the passage answers
    the question by itself, `support` whether it holds any part of the way to the answer.
    """

    passage: Passage
    spans: tuple[tuple[int, int], ...] = ()
    relevant: float | None = 1.0
    support: float | None = 1.0
    kind: int | None = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A need in several wordings, the passages that belong to it, and passages that do not, hardest first.

    An epoch draws `copies` wordings, each with all gold passages, and then `drawn` other passages.
    """

    needs: tuple[str, ...]
    gold: tuple[Gold, ...]
    source: str
    answers: tuple[str, ...] = ()
    others: tuple[Passage, ...] = ()
    copies: float = 1
    drawn: float = 1.0
    mine: bool = True  # whether BM25 looks for more other passages


def half(question_id: str) -> str:
    """A (trained on) or B (measured on), for the two files that serve both ends."""
    return "AB"[hashlib.sha256(question_id.encode()).digest()[0] % 2]


def held_out(titles: Iterable[str]) -> frozenset[str]:
    """About eight in a hundred of the titles, two at least: the ones whose hashes come first."""
    ordered = sorted(set(titles), key=lambda title: hashlib.sha256(title.encode()).hexdigest())
    return frozenset(ordered[: max(2, round(len(ordered) * HELD_OUT_PERCENT / 100))])


def records(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def plain(text: str) -> str:
    """For comparing: small letters and digits with single spaces."""
    return " ".join(re.findall(r"\w+", text.lower()))


def occurrences(text: str, answer: str) -> tuple[tuple[int, int], ...]:
    """Where an answer stands in a text as whole words, at most the first three places."""
    if not answer.strip():
        return ()
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, answer.split())) + r"(?!\w)"
    return tuple(match.span() for match in re.finditer(pattern, text, re.IGNORECASE))[:3]


def holds(passage: Passage, answers: Iterable[str]) -> bool:
    """Whether any of the answers stands in the passage or its title, typography aside."""
    text = f" {plain(passage.title)} {plain(passage.text)} "
    return any(f" {plain(answer)} " in text for answer in answers if plain(answer))


# --- reading -------------------------------------------------------------------------------


def reading(folder: Path) -> tuple[list[Question], list[Question]]:
    """The reading questions to train on, and those of the held-out articles.

    XQuAD's part is the English one: paragraphs of SQuAD 1.1's development articles, some of which are in the
    SQuAD 2.0 part, too; so a title that one source sets aside is set aside in all.
    """
    rows = records(folder / "reading" / "reading_train.jsonl")
    sources = {row["source"] for row in rows}
    aside = {title for source in sources for title in held_out(r["title"] for r in rows if r["source"] == source)}
    articles: dict[str, list[Passage]] = {}
    for row in rows:
        passage = Passage(row["title"].replace("_", " "), row["context"])
        if passage not in articles.setdefault(row["title"], []):
            articles[row["title"]].append(passage)
    trained: list[Question] = []
    measured: list[Question] = []
    for row in rows:
        question = _reading_question(row, articles[row["title"]])
        (measured if row["title"] in aside else trained).append(question)
    return trained, measured


def _reading_question(row: dict[str, Any], article: list[Passage]) -> Question:
    passage = Passage(row["title"].replace("_", " "), row["context"])
    spans = tuple(dict.fromkeys((answer["start"], answer["start"] + len(answer["text"])) for answer in row["answers"]))
    answers = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
    if not spans:
        gold = Gold(passage, relevant=0.0, support=None, kind=None)
        return Question((row["question"],), (gold,), row["source"], drawn=0.0, mine=False)
    asked = set(plain(row["question"]).split())
    near = [other for other in article if other != passage and not holds(other, answers)]
    near.sort(key=lambda other: -len(asked & set(plain(other.text).split())))
    return Question((row["question"],), (Gold(passage, spans),), row["source"], answers, tuple(near[:5]), drawn=0.35)


def thinned(questions: Iterable[Question]) -> list[Question]:
    """The questions with `copies` lowered so that a source "sort:relation" brings at most so many of them an epoch."""
    kept = list(questions)
    sizes = Counter(question.source for question in kept)
    most = {source: MOST_OF_A_SOURCE[source.split(":")[0]] / size for source, size in sizes.items()}
    return [replace(question, copies=min(question.copies, most[question.source])) for question in kept]


# --- several hops ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paragraph:
    passage: Passage
    supporting: bool


@dataclass(frozen=True, slots=True)
class MultiHop:
    """A question of several hops with all its paragraphs, and its one-hop questions where the file tells them.

    `triples` are (subject, relation, answer), `hops` (question, answer, title of the paragraph).
    """

    id: str
    question: str
    answers: tuple[str, ...]
    type: str
    paragraphs: tuple[Paragraph, ...]
    triples: tuple[tuple[str, str, str], ...] = ()
    hops: tuple[tuple[str, str, str], ...] = ()


def multi_hop(folder: Path, name: str) -> Iterator[MultiHop]:
    """The questions of `hotpotqa_train`, `2wiki_train` or `musique_train`."""
    for row in records(folder / "multihop" / f"{name}.jsonl"):
        paragraphs = tuple(Paragraph(Passage(p["title"], p["text"]), p["supporting"]) for p in row["paragraphs"])
        yield MultiHop(
            row["id"],
            row["question"],
            (row["answer"], *row.get("aliases", ())),
            row["type"],
            paragraphs,
            tuple(tuple(triple) for triple in row.get("evidences") or ()),
            _hops(row.get("decomposition") or ()),
        )


def _hops(steps: Sequence[dict[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """Question, answer and title of each step; "#1" in a question is the first step's answer."""
    found = [step["answer"] for step in steps]
    return tuple(
        (re.sub(r"#(\d+)", lambda match: found[int(match[1]) - 1], step["question"]), step["answer"], step["paragraph"])
        for step in steps
    )


def with_triples(row: MultiHop, triples: tuple[tuple[str, str, str], ...]) -> MultiHop:
    return replace(row, triples=triples)


def with_hops(row: MultiHop, hops: tuple[tuple[str, str, str], ...]) -> MultiHop:
    return replace(row, hops=hops)


def whole_question(row: MultiHop) -> Question:
    """The whole question against its paragraphs, as the first hop of the loop asks it.

    A supporting paragraph with the answer teaches the span; whether it answers the question *by itself* is not
    known, so nothing is learnt of that. One without the answer supports but does not answer.
    """
    gold = []
    comparing = "comparison" in row.type
    for paragraph in (p for p in row.paragraphs if p.supporting):
        spans = () if comparing else tuple(s for a in row.answers for s in occurrences(paragraph.passage.text, a))
        answered = bool(spans) or holds(paragraph.passage, row.answers)
        gold.append(Gold(paragraph.passage, spans, None if answered else 0.0, 1.0, None))
    others = tuple(p.passage for p in row.paragraphs if not p.supporting)
    return Question((row.question,), tuple(gold), "whole", (), others, copies=0.8, drawn=2.0, mine=False)


def yes_no(folder: Path) -> list[Question]:
    """StrategyQA: a question, and the facts that decide it as one passage."""
    questions = []
    for row in records(folder / "decomposition" / "strategyqa_train.jsonl"):
        facts = " ".join(row["facts"])
        if not facts or not isinstance(row["answer"], bool):
            continue
        gold = Gold(Passage("", facts), (), 1.0, 1.0, YES if row["answer"] else NO)
        questions.append(Question((row["question"],), (gold,), "strategyqa", copies=0.1, drawn=0.1))
    return questions
