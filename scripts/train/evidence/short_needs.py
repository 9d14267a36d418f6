"""The short needs of the loop ("Who was X's mother?") over paragraphs and over infoboxes.

Paragraphs, their questions and what they do not say come from `relations` and `made`, which the shipped reader learnt
from, too. Infoboxes stand in none of the files, so they are put together from the triples that are known of a
subject and from rows that say something else of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scripts.train import data, made, relations
from scripts.train.data import Question
from scripts.train.evidence import files
from scripts.train.evidence.aside import TRAIN, Parts
from scripts.train.evidence.asked import NO, YES, Asked, Shown, Spans, holds

_KINDS = {data.YES: YES, data.NO: NO}
MULTI_HOP = ("2wiki_train", "musique_train", "hotpotqa_train")
# How the first column of an infobox names a relation.
LABELS = {
    "director": ("Directed by", "Director"),
    "date of birth": ("Born", "Date of birth", "Birth date"),
    "place of birth": ("Place of birth", "Born", "Birthplace"),
    "date of death": ("Died", "Date of death"),
    "place of death": ("Died", "Place of death"),
    "country of citizenship": ("Nationality", "Citizenship", "Country"),
    "father": ("Father", "Parent(s)", "Parents"),
    "mother": ("Mother", "Parent(s)", "Parents"),
    "spouse": ("Spouse", "Spouse(s)", "Consort", "Married"),
    "publication date": ("Release date", "Released", "Published"),
    "country": ("Country",),
    "country of origin": ("Country", "Country of origin", "Origin"),
    "performer": ("Artist", "Performer", "by"),
    "composer": ("Music by", "Composer"),
    "educated at": ("Alma mater", "Education"),
    "place of burial": ("Burial", "Resting place"),
    "employer": ("Employer", "Institutions"),
    "sibling": ("Siblings", "Relatives"),
    "award received": ("Awards", "Honours"),
    "inception": ("Founded", "Established"),
    "child": ("Children", "Issue"),
    "cause of death": ("Cause of death",),
    "founded by": ("Founder", "Founded by"),
    "producer": ("Produced by",),
    "publisher": ("Publisher",),
    "occupation": ("Occupation", "Profession"),
}
_OF_WORKS = frozenset(
    {
        "director",
        "publication date",
        "country",
        "country of origin",
        "performer",
        "composer",
        "inception",
        "founded by",
        "producer",
        "publisher",
    }
)
ROWS = 6  # of an infobox at most
ABSENT = 0.35  # of the infoboxes are asked for what they do not say


def one_hop(folder: Path, parts: Parts, seed: str) -> Iterator[Asked]:
    """Needs over paragraphs, each in one wording drawn by the seed; and StrategyQA's yes/no questions."""
    chance = random.Random(seed)
    rows = {name: list(data.multi_hop(folder, name)) for name in MULTI_HOP}
    kept = [row for found in rows.values() for row in found if data.half(row.id) == "A"]
    asked = list(relations.popqa_questions(data.records(folder / "reading" / "popqa.jsonl")))
    for row in kept:
        asked += [*relations.triple_questions(row), *relations.hop_questions(row)]
    texts = {p.passage.text: p.passage for row in kept for p in row.paragraphs}
    told = [p for p in texts.values() if parts.part([p.title]) == TRAIN]
    asked += data.thinned(made.made_questions(told, chance))
    asked += data.yes_no(folder)
    for question in asked:
        yield from _asked(question, parts, chance)


def _asked(question: Question, parts: Parts, chance: random.Random) -> Iterator[Asked]:
    for gold in question.gold:
        if gold.relevant is None or (question.source.startswith("made") and chance.random() > question.copies):
            continue
        title = gold.passage.title
        shown = Shown(title, "", gold.passage.text, gold.spans, gold.relevant > 0.5)
        others = tuple(Shown(p.title, "", p.text, (), False) for p in question.others)
        polar = _KINDS.get(gold.kind) if gold.kind else None
        part = parts.part([title], gold.passage.text)
        source = question.source.split(":")[0]
        answers = question.answers if gold.spans else ()
        yield Asked(part, source, chance.choice(question.needs), answers, (shown,), others, polar)


def infoboxes(folder: Path, parts: Parts, seed: str, part: str = TRAIN) -> Iterator[Asked]:
    """Needs over infoboxes put together from the triples of subjects of one part."""
    chance = random.Random(seed)
    known: dict[str, dict[str, str]] = {}
    for subject, relation, value in _triples(folder):
        if relation in LABELS:
            known.setdefault(subject, {})[relation] = value
    boxes = {subject: facts for subject, facts in known.items() if parts.part([subject]) == part}
    values: dict[str, list[str]] = {}
    for facts in boxes.values():
        for relation, value in facts.items():
            values.setdefault(relation, []).append(value)
    subjects = sorted(boxes)
    for subject in subjects:
        for relation in boxes[subject]:
            if chance.random() < 0.6:
                yield replace(_over_a_box(subject, relation, boxes, values, subjects, chance), part=part)


def _triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    for row in files.rows(folder, files.TRIPLES):
        yield from (tuple(triple) for triple in row["evidences"])
    for found in data.multi_hop(folder, "2wiki_train"):
        if data.half(found.id) == "A":
            yield from found.triples


def _over_a_box(
    subject: str,
    relation: str,
    boxes: Mapping[str, Mapping[str, str]],
    values: Mapping[str, Sequence[str]],
    subjects: Sequence[str],
    chance: random.Random,
) -> Asked:
    facts = dict(boxes[subject])
    answer = facts[relation]
    of_works = relation in _OF_WORKS
    for other in chance.sample(sorted(values), len(values)):
        # Rows on what is not known of the subject, so that an infobox is not its own answer.
        if len(facts) < ROWS and other not in facts and (other in _OF_WORKS) == of_works and chance.random() < 0.5:
            facts[other] = chance.choice(values[other])
    if chance.random() < ABSENT:
        del facts[relation]
    shown = box(subject, facts, relation, chance)
    another = [one for one in chance.sample(subjects, 12) if relation in boxes[one] and boxes[one][relation] != answer]
    others = tuple(box(one, boxes[one], "", chance) for one in another[:2])
    question = chance.choice(relations.wordings(relation, relations.bare(subject)))
    return Asked(
        TRAIN,
        "infobox",
        question,
        (answer,) if shown.spans else (),
        (shown,),
        tuple(one for one in others if not holds(one.text, [answer])),
    )


def box(subject: str, facts: Mapping[str, str], asked: str, chance: random.Random) -> Shown:
    """Rows of an infobox in mixed order, as the reader sees those of tables; `asked` is the relation to be marked."""
    text = ""
    spans: Spans = ()
    for relation in chance.sample(list(facts), len(facts)):
        text += ("\n" if text else "") + chance.choice(LABELS[relation]) + ": "
        if relation == asked:
            spans = ((len(text), len(text) + len(facts[relation])),)
        text += facts[relation]
    return Shown(subject, "", text, spans, bool(spans))
