"""One-hop questions about relations: their wordings, and the questions that triples and sub-questions give.

The loop asks short needs ("Who was X's mother?", "When did X die?"). Few of the data files do, so the triples
of 2WikiMultihopQA and PopQA are asked in many wordings. `scripts.train.made` asks the same of any paragraph.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scripts.train.data import Gold, MultiHop, Passage, Question, occurrences, plain

TABLES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORDINGS: dict[str, list[str]] = TABLES["wordings"]
# What a paragraph that says nothing of a birthplace does not hold.
SIGN_OF_BIRTHPLACE = r"\b[Bb]orn|native|from|\([A-Z]|, [A-Z][a-z]+\s?[,)]|raised|grew"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


def wordings(relation: str, subject: str) -> tuple[str, ...]:
    """All the ways to ask for a relation of a subject."""
    forms = (*WORDINGS.get(relation, ()), f"{{}} >> {relation}", f"What is the {relation} of {{}}?")
    if not WORDINGS.get(relation):
        forms = (*forms, f"{{}} {relation}")
    return tuple(form.replace("{}", subject) for form in forms)


def bare(title: str) -> str:
    """A title without what stands in parentheses after it."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


def triple_questions(row: MultiHop) -> Iterator[Question]:
    """The one-hop questions of a 2WikiMultihopQA question: each triple against the paragraph on its subject."""
    supporting = [p.passage for p in row.paragraphs if p.supporting]
    for subject, relation, answer in row.triples:
        known = [p for p in supporting if plain(bare(p.title)) == plain(bare(subject))]
        known = known or [p for p in supporting if plain(subject) in plain(p.text)]
        found = [(p, spans) for p in known if (spans := spans_of(p.text, answer))]
        if not found:
            continue
        passage, spans = found[0]
        needs = list(wordings(relation, subject))
        if passage.title != subject:
            needs += wordings(relation, passage.title)
        gold = Gold(passage, spans[:1])
        others = tuple(p.passage for p in row.paragraphs if p.passage != passage)
        yield Question(tuple(needs), (gold,), "2wiki", (answer,), others, copies=2, drawn=2.2)


def spans_of(text: str, answer: str) -> tuple[tuple[int, int], ...]:
    """Where an answer stands, also a date written the other way round."""
    if found := occurrences(text, answer):
        return found
    if match := re.fullmatch(rf"({_MONTH}) (\d{{1,2}}), (\d{{4}})", answer):
        return occurrences(text, f"{match[2]} {match[1]} {match[3]}")
    if match := re.fullmatch(rf"(\d{{1,2}}) ({_MONTH}) (\d{{4}})", answer):
        return occurrences(text, f"{match[2]} {match[1]}, {match[3]}")
    return ()


def hop_questions(row: MultiHop) -> Iterator[Question]:
    """The one-hop questions of a MuSiQue question, with the earlier answers put in."""
    for asked, answer, title in row.hops:
        gold = [
            (p.passage, spans)
            for p in row.paragraphs
            if p.supporting and p.passage.title == title and (spans := occurrences(p.passage.text, answer))
        ]
        if not gold:
            continue
        passage, spans = gold[0]
        needs = [asked]
        if match := re.fullmatch(r"(.+?) >> (.+)", asked):
            needs += wordings(match[2], match[1])[:-2]
            needs += [f"What is the {match[2]} of {match[1]}?"]
        others = tuple(p.passage for p in row.paragraphs if p.passage != passage)
        yield Question(tuple(needs), (Gold(passage, spans[:1]),), "musique", (answer,), others, copies=2, drawn=3.0)


def popqa_questions(rows: Iterable[dict[str, Any]]) -> Iterator[Question]:
    """PopQA's questions against the paragraph on their subject; the paragraph on the answer does not answer."""
    for row in rows:
        first, *rest = [Passage(p["title"], p["text"]) for p in row["paragraphs"]]
        answers = tuple(row["answers"])
        subject, relation = row["subject"], row["relation"]
        needs = (row["question"], *wordings(relation, subject))
        others = tuple(passage for passage in rest if plain(subject) not in plain(passage.text))
        spans = next((spans for answer in answers if (spans := occurrences(first.text, answer))), ())
        if not spans and relation != "place of birth":
            continue  # an occupation in other words: neither answered nor unanswered
        if not spans and re.search(SIGN_OF_BIRTHPLACE, first.text):
            continue
        gold = Gold(first, spans[:1]) if spans else Gold(first, relevant=0.0, support=None, kind=None)
        known = answers if spans else ()
        yield Question(needs, (gold,), "popqa", known, others, copies=0.8, drawn=0.7, mine=bool(spans))
