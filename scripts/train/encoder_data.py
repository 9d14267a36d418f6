"""What the encoder learns from: chunks as an index cuts them, the needs and whole questions that belong to each.

The data files hold few whole multi-hop questions, so more are composed: a description in the place of an entity
("Where was the director of X born?" belongs to the passage on X), and comparisons of two passages' subjects.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from iterative_rag.retrieval import chunking
from iterative_rag.types import Document
from scripts.train import data, made, relations
from scripts.train.data import Gold, MultiHop, Passage, Question
from scripts.train.negatives import with_mined
from scripts.train.relations import TABLES, bare, wordings
from scripts.train.split_compose import described
from scripts.train.training_plan import Plan

READING = frozenset({"squad2", "xquad", "nq"})
WHOLE_COPIES = 2.5  # the few whole questions come up more often
FOLD = 6  # one multi-hop question in so many is kept to choose the share
MOST_READING = 300  # reading questions that take part in choosing
OTHERS = 2  # hard negatives a chunk
COMPOSED_SHARE, COMPARED_SHARE = 0.5, 0.5  # of the made questions that could be composed

_OF_PERSON = (
    "date of birth", "place of birth", "country of citizenship", "date of death", "place of death", "spouse", "father",
    "mother", "educated at", "award received", "cause of death", "sibling", "child", "occupation", "employer",
)  # fmt: skip
_OF_THING = ("country", "inception", "located in", "founded by", "population", "named after")
_PEOPLE = frozenset(
    ("director", "performer", "composer", "spouse", "father", "mother", "author", "screenwriter", "producer")
)
_THINGS = {"founded by": "founder", "place of birth": "birthplace", "educated at": "university", "team": "team",
           "record label": "record label", "publisher": "publisher", "place of death": "place of death"}  # fmt: skip
_COMPARED: dict[str, list[str]] = TABLES["compared"]


def training_questions(folder: Path, *, seed: int) -> list[Question]:
    """Everything that the encoder learns from, with its hard negatives. Half B of the two files is left out."""
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


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of an index: `text` is what is embedded, `source` the paragraph that it was cut from."""

    text: str
    source: Passage


@dataclass(frozen=True, slots=True)
class Group:
    """A chunk with the needs that it belongs to (each with its question), and chunks that belong to none of them."""

    chunk: Chunk
    asked: tuple[tuple[str, Question], ...]
    others: tuple[Chunk, ...]


@cache
def chunks(passage: Passage) -> tuple[tuple[int, int, Chunk], ...]:
    """The chunks of a paragraph with their offsets, cut and headed as an index does it."""
    cut = chunking.chunk(Document("", passage.title, passage.text, ""))
    return tuple((one.start, one.end, Chunk(one.embedded_text, passage)) for one in cut)


def chunk_of(gold: Gold, chance: random.Random) -> Chunk:
    """The chunk that holds the answer; without one any, the first more often: it says what the article is about."""
    cut = chunks(gold.passage)
    if gold.spans:
        start, end = chance.choice(gold.spans)
        holding = [one for begin, stop, one in cut if begin <= start and end <= stop]
        if holding:
            return chance.choice(holding)
    return cut[min(chance.randrange(len(cut)), chance.randrange(len(cut)))][2]


def positives(question: Question) -> list[Gold]:
    return [gold for gold in question.gold if gold.relevant == 1.0 or gold.support == 1.0]


def in_fold(row: MultiHop) -> bool:
    return hashlib.sha256(row.id.encode()).digest()[1] % FOLD == 0


def split(folder: Path, seed: int) -> tuple[list[Question], list[MultiHop], list[Question]]:
    """What is learnt from; and what the share is chosen on: multi-hop questions and reading questions.

    Nothing is learnt about an article that supports one of these multi-hop questions. Half B stays unseen.
    """
    names = ("hotpotqa_train", "2wiki_train", "musique_train")
    rows = [(name, row) for name in names for row in data.multi_hop(folder, name)]
    apart = [row for name, row in rows if (name == names[0] or data.half(row.id) == "A") and in_fold(row)]
    titles = {p.passage.title for row in apart for p in row.paragraphs if p.supporting}
    learnt = [
        question
        for question in training_questions(folder, seed=seed)
        if (golds := positives(question)) and not any(gold.passage.title in titles for gold in golds)
    ]
    learnt += composed(learnt, random.Random(f"{seed}/composed"))
    _, held_out = data.reading(folder)
    answered = [question for question in held_out if question.answers]
    return learnt, apart, random.Random(seed).sample(answered, min(MOST_READING, len(answered)))


def composed(questions: Sequence[Question], chance: random.Random) -> list[Question]:
    """Nested and comparing questions over the passages of one-hop ones."""
    found: list[Question] = []
    alike: dict[str, list[Question]] = {}
    for question in questions:
        relation = question.source.removeprefix("made:")
        if relation in _COMPARED:
            alike.setdefault(relation, []).append(question)
        if (question.source in READING or relation != question.source) and chance.random() < COMPOSED_SHARE:
            found += _nested(question, relation, chance)
    for relation, same in alike.items():
        ordered = chance.sample(same, round(len(same) * min(1.0, same[0].copies * COMPARED_SHARE)))
        for one, other in itertools.pairwise(ordered[: len(ordered) // 2 * 2]):
            found.append(_compared(relation, one, other, chance))
    return found


def _nested(question: Question, relation: str, chance: random.Random) -> list[Question]:
    """A question about what this one asks for; its first hop is this one's passage."""
    if relation in _PEOPLE or relation in _THINGS:
        asked, subject = _THINGS.get(relation, relation), bare(question.gold[0].passage.title)
        inner = [f"the {asked} of {subject}", f"{subject}'s {asked}"]
        outer = _OF_PERSON if relation in _PEOPLE or relation == "founded by" else _OF_THING
    elif relation in READING and (phrase := described(question.needs[0].strip())):
        inner, outer = [phrase], _OF_PERSON if phrase.startswith("the person ") else _OF_THING
    else:
        return []
    needs = tuple(chance.choice(wordings(chance.choice(outer), chance.choice(inner))[:-2]) for _ in range(3))
    gold = Gold(question.gold[0].passage, question.gold[0].spans, None)
    return [Question(needs, (gold,), "nested", question.answers, question.others, copies=question.copies)]


def _compared(relation: str, one: Question, other: Question, chance: random.Random) -> Question:
    a, b = (bare(question.gold[0].passage.title) for question in (one, other))
    needs = tuple(form.replace("{a}", a).replace("{b}", b) for form in _COMPARED[relation])
    golds = tuple(Gold(question.gold[0].passage, question.gold[0].spans, None) for question in (one, other))
    shown = {gold.passage for gold in golds}
    others = tuple(passage for passage in (*one.others, *other.others) if passage not in shown)
    return Question(needs, golds, "compared", (), tuple(chance.sample(others, len(others))))


def epoch(questions: Sequence[Question], plan: Plan, number: int) -> list[Group]:
    """One pass in mixed order, other wordings each time: every gold chunk once, with all the needs drawn for it."""
    chance = random.Random(f"{plan.seed}/{number}/encoder")
    drawn: dict[str, tuple[Chunk, list[tuple[str, Question]]]] = {}
    for question in questions:
        copies = question.copies * (WHOLE_COPIES if question.source == "whole" else 1)
        count = int(copies) + (chance.random() < copies % 1)
        for need in chance.sample(question.needs, min(count, len(question.needs))):
            for gold in positives(question):
                chunk = chunk_of(gold, chance)
                drawn.setdefault(chunk.text, (chunk, []))[1].append((need, question))
    groups = [Group(chunk, tuple(asked), _others(asked, chance)) for chunk, asked in drawn.values()]
    chance.shuffle(groups)
    return groups[: plan.limit] if plan.limit else groups


def _others(asked: Sequence[tuple[str, Question]], chance: random.Random) -> tuple[Chunk, ...]:
    """Passages that BM25 or the question's author put beside the gold one, the harder ones more often."""
    _, question = chance.choice(asked)
    left = [one for one in question.others if not data.holds(one, question.answers)]
    drawn = []
    for _ in range(min(OTHERS, len(left))):
        passage = left.pop(min(chance.randrange(len(left)), chance.randrange(len(left))))
        drawn.append(chunk_of(Gold(passage), chance))
    return tuple(drawn)


def batches(questions: Sequence[Question], plan: Plan, done: int) -> Iterator[list[Group]]:
    """The batches after the first `done`, epoch after epoch, until the plan's steps are full."""
    place = 0
    for number in itertools.count():
        groups = epoch(questions, plan, number)
        for first in range(0, len(groups) - plan.batch + 1, plan.batch):
            if place >= plan.steps:
                return
            if place >= done:
                yield groups[first : first + plan.batch]
            place += 1
