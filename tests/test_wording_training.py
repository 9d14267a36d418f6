"""Questions made to train the heads that recognize plain facts: labels and places of names are right."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("tokenizers")

from iterative_rag.builtin.question.wording import HEADS, Act
from scripts.train.split_data import Example, spliced
from scripts.train.wording_asked import by_rules
from scripts.train.wording_made import WordingMaker

NAMES = {"p": ["Ann Lee", "Bo Orm"], "w": ["Low Tide", "Harvest Lantern"], "t": ["Selmouth", "Upper Brandell"]}


def made(count: int, seed: int = 3) -> list[Example]:
    return list(WordingMaker(NAMES, random.Random(seed)).questions(count))


def test_every_class_of_a_made_question_is_one_of_its_head() -> None:
    questions = made(3000)
    assert {example.target.act for example in questions if example.target} == set(Act)
    for example in questions:
        target = example.target
        assert target is not None
        said = (target.act.value, target.attribute, target.relation, target.further)
        assert target.act is Act.OTHER or all(one in head for one, head in zip(said, HEADS, strict=True))


def test_the_marked_places_hold_the_names_and_nothing_is_left_to_fill() -> None:
    for example in made(3000):
        assert example.target is not None
        assert not any(sign in example.question for sign in "{}<>"), example.question
        for start, end in example.target.names:
            named = example.question[start:end].lower()
            assert any(name.lower() in named for names in NAMES.values() for name in names), example.question
        if example.target.act is not Act.OTHER:
            assert len(example.target.names) >= (1 if example.target.act is Act.LOOKUP else 2)


def test_the_same_seed_makes_the_same_questions() -> None:
    assert made(200) == made(200) != made(200, seed=4)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did the director of film Low Tide die?", (Act.LOOKUP, "death_date", "director", ["Low Tide"])),
        ("Who was born first, Ann Lee or Bo Orm?", (Act.EARLIER, "birth_date", "", ["Ann Lee", "Bo Orm"])),
        (
            "Are the directors of Low Tide and Dawn from the same country?",
            (Act.SAME, "nationality", "director", ["Low Tide", "Dawn"]),
        ),
    ],
)
def test_what_the_rules_understand_is_labelled(question: str, said: tuple[Act, str, str, list[str]]) -> None:
    target = by_rules(question)
    assert target is not None
    names = [question[start:end] for start, end in target.names]
    assert (target.act, target.attribute, target.relation, names) == said


@pytest.mark.parametrize("question", ["Which magazine is older, Low Tide or Dawn?", "Why is the sea salty?"])
def test_what_the_classes_do_not_say_has_no_label(question: str) -> None:
    assert by_rules(question) is None


def test_places_of_names_move_with_the_text() -> None:
    question = "When did the director of film Low Tide die?"
    example = Example(question, 0, None, "s", by_rules(question))
    longer = spliced(example, question.index("Low"), question.index(" die"), "A Much Longer Name")
    assert longer is not None
    assert longer.target is not None
    ((start, end),) = longer.target.names
    assert longer.question[start:end] == "A Much Longer Name"
