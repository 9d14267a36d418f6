"""What the splitter is trained and measured on: questions with their kind and the spans of what must be found first.

Held out by the hash of the question or of its id: a tenth of QDMR, and the halves B (see `data.half`) of
2WikiMultihopQA, MuSiQue and HotpotQA train. Questions that HotpotQA dev holds, too, are left out of both.
`split_marks.json` holds the kinds and spans by the id of the question. Those of MuSiQue and HotpotQA were marked one by
one, QDMR's (Break, Wolfson et al. 2020) by aligning its steps with the question, 2WikiMultihopQA's by its triples.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from iterative_rag.builtin.language.function_words import DETERMINERS, word_set
from iterative_rag.builtin.language.nouns import PLACES, names_person
from iterative_rag.builtin.language.tokens import group_end, head_noun, tokenize
from iterative_rag.builtin.question.wording import Act
from scripts.train.data import half, plain, records
from scripts.train.split_marks import (
    CLAUSE,
    COMPARISON,
    INTERSECTION,
    SINGLE,
    Mark,
)

MARKS = Path(__file__).with_name("split_marks.json")
HELD_OUT_PERCENT = 10
ASKS = ("who", "where", "when", "which", "what")
_WHERE = word_set(
    "city town country state village county province region continent island area place location birthplace hometown "
    "capital district territory nation municipality neighborhood suburb borough settlement"
)
_WHEN = word_set("year date day month century decade era birthday time period season")
_WHICH = word_set(
    "film movie song album single book novel series show sitcom game band group team club company organization "
    "organisation university school college label network newspaper magazine play opera musical episode station "
    "channel airline franchise brand award prize party army church museum river mountain lake association"
)
_WHAT = word_set(
    "language currency religion nationality genre sport occupation profession position title term name instrument type "
    "kind number population institution movement species disease ideology"
)


@dataclass(frozen=True, slots=True)
class Target:
    """What the heads for plain facts should say of a question, and where its names stand (all places of each)."""

    act: Act
    attribute: str = ""
    relation: str = ""
    further: str = ""
    names: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A question; `kind` is UNKNOWN, `marks` and `target` are None where they are not known."""

    question: str
    kind: int
    marks: tuple[Mark, ...] | None
    source: str
    target: Target | None = None


def asks(phrase: str) -> int:
    """What a phrase stands for, by its head noun: a place in ASKS, or -1 where the noun does not tell."""
    tokens = [token for token in tokenize(phrase) if token.word]
    if not tokens:
        return -1
    begin = int(tokens[0].low in DETERMINERS)
    group = tokens[begin : group_end(tokens, begin, len(tokens))] or tokens
    noun = head_noun(group)
    single = noun.removesuffix("s")
    for place, known in ((1, _WHERE), (2, _WHEN), (3, _WHICH), (4, _WHAT)):
        if noun in known or single in known:
            return place
    if group[-1].capital and not group[-1].possessive and len(group) > 1:
        return -1
    if names_person(noun):
        return 0
    return 1 if noun in PLACES else -1


def mark_asks(question: str, mark: Mark) -> int:
    """What a mark stands for; a clause ends with the noun that it is about."""
    text = question[mark.start : mark.end]
    if mark.label == CLAUSE:
        text = re.split(r"\b(?:a|an|the|which|what|this|its|his|her|whose)\b", text)[-1]
    return asks(text.strip())


# --- the files -------------------------------------------------------------------------------


def aside(question: str) -> bool:
    return hashlib.sha256(plain(question).encode()).digest()[1] * 100 < HELD_OUT_PERCENT * 256


def qdmr(folder: Path) -> tuple[list[Example], list[Example]]:
    """Break's questions, to train on and held out; of DROP only single ones and comparisons, its nesting is its own."""
    dev = {plain(row["question"]) for row in records(folder / "multihop" / "hotpotqa_dev.jsonl")}
    stored = json.loads(MARKS.read_text(encoding="utf-8"))
    trained: list[Example] = []
    measured: list[Example] = []
    for row in records(folder / "decomposition" / "qdmr_high_level.jsonl"):
        question, source = row["question"].rstrip(), "qdmr-" + row["id"].split("_")[0].lower()
        if plain(question) in dev or row["id"] not in stored:
            continue
        kind, marks = read_marks(stored[row["id"]])
        if source == "qdmr-drop" and (kind not in (SINGLE, COMPARISON) or "DROP_dev_nfl" in row["id"]):
            continue
        (measured if aside(question) else trained).append(Example(question, kind, marks, source))
    return trained, measured


def marked(folder: Path, name: str) -> tuple[list[Example], list[Example]]:
    """MuSiQue, HotpotQA or 2WikiMultihopQA train with the stored marks: halves A and B."""
    stored = json.loads(MARKS.read_text(encoding="utf-8"))
    halves: dict[str, list[Example]] = {"A": [], "B": []}
    for row in records(folder / "multihop" / f"{name}.jsonl"):
        kind, marks = read_marks(stored[row["id"]])
        halves[half(row["id"])].append(Example(row["question"].rstrip(), kind, marks, name.split("_")[0]))
    return halves["A"], halves["B"]


def read_marks(line: str) -> tuple[int, tuple[Mark, ...] | None]:
    """ "n31-99p": nested, with a phrase from 31 to 99; "n?": nested, but in no single stretch."""
    kind = "snci".index(line[0])
    if line[1:] == "?":
        return kind, None
    found = re.findall(r"(\d+)-(\d+)([pcx])", line)
    return kind, tuple(Mark(int(start), int(end), "pcx".index(label)) for start, end, label in found)


def singles(folder: Path, chance: random.Random) -> list[Example]:
    """Questions of one look-up that must stay whole: reading questions without a clause inside, and PopQA."""
    inside = re.compile(
        r"^.{8,}\b(?:the|an?|this|that|those) (?:[\w-]+ ){1,3}(?:who|that|which|where|whose|in which|when)\b", re.I
    )
    rows = records(folder / "reading" / "reading_train.jsonl")
    asked = [row["question"].strip() for row in rows if not inside.match(row["question"])]
    asked = [question for question in asked if 3 < len(question.split()) < 25]
    kept = chance.sample(sorted(set(asked)), 2600)
    kept += chance.sample([row["question"] for row in records(folder / "reading" / "popqa.jsonl")], 250)
    return [Example(question, SINGLE, (), "single") for question in kept]


def training_files(folder: Path) -> list[Example]:
    """All that may be trained on and was asked by somebody, the small sources several times."""
    found: list[Example] = []
    for examples, copies in (
        (qdmr(folder)[0], 2),
        (marked(folder, "2wiki_train")[0], 2),
        (marked(folder, "musique_train")[0], 6),
        (marked(folder, "hotpotqa_train")[0], 4),
    ):
        found += examples * copies
    return found


def measured_files(folder: Path) -> dict[str, list[Example]]:
    """The held-out questions by source."""
    held: dict[str, list[Example]] = {}
    for example in qdmr(folder)[1]:
        held.setdefault("qdmr-drop" if example.source == "qdmr-drop" else "qdmr", []).append(example)
    held["2wiki-b"] = marked(folder, "2wiki_train")[1]
    held["musique-b"] = marked(folder, "musique_train")[1]
    held["hotpotqa-b"] = marked(folder, "hotpotqa_train")[1]
    return held


# --- changing words that the answer must not hang on --------------------------------------------

_NAME = re.compile(r"(?<![\w'’\"“])(?:[A-ZÀ-Þ][\w.’'-]*[^\W_](?: (?:of |de |the )?(?=[A-ZÀ-Þ])|(?=\W|$)))+")
_KEPT = word_set("who what which where when how in on at the a an are is was were do did does name if both between of")


def renamed(example: Example, names: list[str], chance: random.Random) -> Example:
    """The example with some of its names changed for others, the marks moved along."""
    found = [match for match in _NAME.finditer(example.question) if match[0].split()[0].lower() not in _KEPT]
    for match in reversed(found):
        text = re.sub(r"['’]s$", "", match[0].rstrip())
        if chance.random() < 0.6:
            example = spliced(example, match.start(), match.start() + len(text), chance.choice(names)) or example
    return example


def spliced(example: Example, start: int, end: int, text: str, inner: Iterable[Mark] = ()) -> Example | None:
    """The example with [start, end) replaced, and the marks of the new text; None where that cuts a mark in two."""
    grown = len(text) - (end - start)

    def moved(place: tuple[int, int]) -> tuple[int, int] | None:
        if place[1] <= start:
            return place
        if place[0] >= end:
            return place[0] + grown, place[1] + grown
        return (place[0], place[1] + grown) if place[0] <= start and end <= place[1] else None

    marks: list[Mark] = [Mark(mark.start + start, mark.end + start, mark.label) for mark in inner]
    for mark in example.marks or ():
        if (place := moved((mark.start, mark.end))) is None:
            return None
        marks.append(Mark(*place, mark.label))
    target = example.target
    if target is not None:
        names = [moved(name) for name in target.names]
        kept = tuple(name for name in names if name is not None)
        target = replace(target, names=kept) if len(kept) == len(names) else None
    question = example.question[:start] + text + example.question[end:]
    return replace(example, question=question, marks=None if example.marks is None else tuple(marks), target=target)


def small(example: Example) -> Example:
    """In small letters, as many people type; nothing where that changes a length."""
    lowered = example.question.lower()
    return replace(example, question=lowered) if len(lowered) == len(example.question) else example


def epoch(files: list[Example], made: Iterator[Example], names: list[str], chance: random.Random) -> list[Example]:
    """One epoch: the files' questions, half of them with other names, and the composed ones; some in small letters."""
    drawn = [renamed(example, names, chance) if chance.random() < 0.5 else example for example in files]
    drawn += made
    drawn = [small(example) if chance.random() < 0.1 else example for example in drawn]
    drawn = [_unmarked(example) if chance.random() < 0.08 else example for example in drawn]
    chance.shuffle(drawn)
    return drawn


def _unmarked(example: Example) -> Example:
    return replace(example, question=example.question.rstrip(" ?"))


__all__ = ["ASKS", "INTERSECTION", "Example", "asks", "epoch", "mark_asks", "measured_files", "training_files"]
