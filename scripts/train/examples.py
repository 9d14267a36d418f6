"""From questions to what the network sees: epochs of (need, passage) pairs, their tokens, batches of like length."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from scripts.train import data, made, relations
from scripts.train.data import Gold, Passage, Question
from scripts.train.negatives import with_mined

MAX_TOKENS, MAX_NEED, WIDTH_STEP = 320, 96, 16
CLS, SEP = 101, 102
READING = frozenset({"squad2", "xquad", "nq"})
NOTHING = -1  # a target that teaches nothing
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    need: str
    gold: Gold
    source: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A tokenised pair: `[CLS] need [SEP] title: passage [SEP]`. `text` is the first token of the passage,
    `offsets` the character offsets of its tokens; targets are token places or values, NOTHING where untaught."""

    ids: tuple[int, ...]
    second: int
    text: int
    offsets: tuple[tuple[int, int], ...]
    start: int = NOTHING
    end: int = NOTHING
    relevant: float = NOTHING
    support: float = NOTHING
    kind: int = NOTHING


def training_questions(folder: Path, *, seed: int) -> list[Question]:
    """Everything that the reader learns from, with its hard negatives. Half B of the two files is left out."""
    chance = random.Random(seed)
    read, _ = data.reading(folder)
    rows = {name: list(data.multi_hop(folder, name)) for name in ("hotpotqa_train", "2wiki_train", "musique_train")}
    kept = {
        name: [row for row in found if name == "hotpotqa_train" or data.half(row.id) == "A"]
        for name, found in rows.items()
    }
    measured = [row for name, found in rows.items() for row in found if row not in kept[name]]
    banned = {p.passage.title for row in measured for p in row.paragraphs if p.supporting}
    asked = {(subject, relation) for row in measured for subject, relation, _ in row.triples}
    asked |= {(question, "") for row in measured for question, _, _ in row.hops}

    questions = list(read)
    questions += relations.popqa_questions(data.records(folder / "reading" / "popqa.jsonl"))
    for row in kept["2wiki_train"]:
        new = tuple(triple for triple in row.triples if (triple[0], triple[1]) not in asked)
        questions += relations.triple_questions(data.with_triples(row, new))
    for row in kept["musique_train"]:
        new_hops = tuple(hop for hop in row.hops if (hop[0], "") not in asked)
        questions += relations.hop_questions(data.with_hops(row, new_hops))
    questions += [data.whole_question(row) for found in kept.values() for row in found]
    questions += data.yes_no(folder)

    paragraphs = [p.passage for found in kept.values() for row in found for p in row.paragraphs]
    paragraphs += [gold.passage for question in questions if question.source == "popqa" for gold in question.gold]
    texts = list({p.text: p for p in paragraphs if p.title not in banned}.values())
    questions += data.thinned(made.made_questions(texts, chance))
    pool = {p.text: p for p in texts}
    pool |= {gold.passage.text: gold.passage for question in read for gold in question.gold}
    return with_mined(questions, list(pool.values()))


def for_calibration(question: Question) -> bool:
    """Whether a question is kept from training to calibrate relevance: one article in twenty-five, by its title.

    The held-out reading articles are the other part of what calibrates; StrategyQA has no articles.
    """
    title = question.gold[0].passage.title
    apart = question.source in READING or question.source == "strategyqa"
    return not apart and hashlib.sha256(title.encode()).digest()[1] % 25 == 0


def epoch(questions: Sequence[Question], seed: int, number: int) -> list[Example]:
    """One pass: wordings and other passages drawn anew, the harder of these more often; the same for the same seed."""
    chance = random.Random(f"{seed}/{number}")
    drawn: list[Example] = []
    for question in questions:
        copies = int(question.copies) + (chance.random() < question.copies % 1)
        if not copies:
            continue
        needs = chance.sample(question.needs, min(copies, len(question.needs)))
        drawn += [Example(need, gold, question.source) for need in needs for gold in question.gold]
        count = int(question.drawn) + (chance.random() < question.drawn % 1)
        left = list(question.others)
        for _ in range(min(count, len(left))):
            passage = left.pop(min(chance.randrange(len(left)), chance.randrange(len(left))))
            gold = Gold(passage, relevant=0.0, support=0.0, kind=None)
            drawn.append(Example(chance.choice(needs), gold, f"other:{question.source}"))
    chance.shuffle(drawn)
    return drawn


class Pairs:
    """Tokenises pairs; what exceeds MAX_TOKENS is cut so that the answer stays inside."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def need_ids(self, need: str, most: int = MAX_NEED) -> list[int]:
        return list(self._tokenizer.encode(need, add_special_tokens=False).ids[:most])

    def pair(self, example: Example, chance: random.Random | None = None) -> Pair:
        need = self.need_ids(example.need)
        title = self._tokenizer.encode(prefix(example.gold.passage), add_special_tokens=False).ids[:MAX_NEED]
        text = self._tokenizer.encode(example.gold.passage.text, add_special_tokens=False)
        room = MAX_TOKENS - len(need) - len(title) - 3
        spans = example.gold.spans
        span = (chance.choice(spans) if chance else spans[0]) if spans else None
        places = token_span(text.offsets, span) if span else None
        first = 0
        if len(text.ids) > room:
            target = places[0] if places else len(text.ids) // 2
            shift = chance.randrange(room) if chance else room // 2
            first = max(0, min(target - shift, len(text.ids) - room))
        ids = text.ids[first : first + room]
        begin = len(need) + len(title) + 2
        if places and places[1] - first >= len(ids):
            places = None
        gold = example.gold
        return Pair(
            (CLS, *need, SEP, *title, *ids, SEP),
            len(need) + 2,
            begin,
            tuple(text.offsets[first : first + room]),
            begin + places[0] - first if places else NOTHING,
            begin + places[1] - first if places else NOTHING,
            NOTHING if gold.relevant is None else gold.relevant,
            NOTHING if gold.support is None else gold.support,
            NOTHING if gold.kind is None or (gold.kind == 0 and not spans) else gold.kind,
        )


def prefix(passage: Passage) -> str:
    return f"{passage.title}:" if passage.title else ""


def token_span(offsets: Sequence[tuple[int, int]], span: tuple[int, int]) -> tuple[int, int] | None:
    """The first and the last token that touch a span of characters."""
    inside = [place for place, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]
    return (inside[0], inside[-1]) if inside else None


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays of shape (pairs, tokens) padded with zeros, and targets of shape (pairs,)."""

    ids: Ids
    segments: Ids
    text: npt.NDArray[np.bool_]
    start: Ids
    end: Ids
    relevant: npt.NDArray[np.float32]
    support: npt.NDArray[np.float32]
    kind: Ids


def batch(pairs: Sequence[Pair]) -> Batch:
    # Few different shapes: the processor's matrix products are compiled anew for each.
    width = -(-max(len(pair.ids) for pair in pairs) // WIDTH_STEP) * WIDTH_STEP
    ids, segments = np.zeros((len(pairs), width), np.int64), np.zeros((len(pairs), width), np.int64)
    text = np.zeros((len(pairs), width), np.bool_)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = pair.ids
        segments[row, pair.second : len(pair.ids)] = 1
        text[row, pair.text : len(pair.ids) - 1] = True
    return Batch(
        ids,
        segments,
        text,
        np.array([pair.start for pair in pairs]),
        np.array([pair.end for pair in pairs]),
        np.array([pair.relevant for pair in pairs], np.float32),
        np.array([pair.support for pair in pairs], np.float32),
        np.array([pair.kind for pair in pairs]),
    )


def batches(pairs: Sequence[Pair], size: int, chance: random.Random) -> Iterator[Batch]:
    """Batches of like length in mixed order: pairs are sorted within blocks of sixty batches."""
    block = 60 * size
    groups: list[Sequence[Pair]] = []
    for first in range(0, len(pairs), block):
        ordered = sorted(pairs[first : first + block], key=lambda pair: len(pair.ids))
        mixed: list[Sequence[Pair]] = [ordered[at : at + size] for at in range(0, len(ordered), size)]
        chance.shuffle(mixed)
        groups += mixed
    for group in groups:
        yield batch(group)
