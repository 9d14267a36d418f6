"""Follow-ups rewritten by rules: every case of the conversations, and those that have to be refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fakes.follow_up_cases import CONVERSATIONS, Case
from iterative_rag.builtin.question.follow_ups import RuleFollowUps
from iterative_rag.types import Earlier, Exchange, StandAlone, Unclear


def cases() -> Iterator[tuple[Case, Earlier]]:
    for conversation in CONVERSATIONS:
        exchanges = [Exchange(conversation.question, conversation.answer)]
        for case in conversation.cases:
            yield case, Earlier(tuple(exchanges))
            if case.meant:
                exchanges.append(Exchange(case.meant[0], case.answer))


def words(question: str) -> list[str]:
    return re.findall(r"[\w']+", re.sub(r"\bthe\b", "", question.casefold()))


def after(*exchanges: tuple[str, str]) -> Earlier:
    return Earlier(tuple(Exchange(question, answer) for question, answer in exchanges))


def meant(follow_up: str, earlier: Earlier) -> str:
    read = RuleFollowUps().understand(follow_up, earlier)
    return read.question if isinstance(read, StandAlone) else ""


# No rule is spent on these: a time that was answered, and a comparison with what was spoken of.
BEYOND = {"how old was he then?", "is Mount Rainier higher?"}
UNDERSTOOD = [(case, earlier) for case, earlier in cases() if case.asked not in BEYOND]


@pytest.mark.parametrize(("case", "earlier"), UNDERSTOOD, ids=lambda value: getattr(value, "asked", ""))
def test_a_follow_up_stands_alone_or_is_refused(case: Case, earlier: Earlier) -> None:
    said = meant(case.asked, earlier)
    if case.meant:
        assert words(said) in [words(one) for one in case.meant], said
    else:
        assert said == ""


LANE = after(("Who was the niece of James Buchanan?", "Harriet Lane"))


@pytest.mark.parametrize("follow_up", ["", "?", "ok", "hm, interesting", "more", "the other one", "zwölf", "()[]*+?\\"])
def test_what_is_no_question_is_not_guessed(follow_up: str) -> None:
    assert isinstance(RuleFollowUps().understand(follow_up, LANE), Unclear)


CLEVELAND = ("Who was the wife of Grover Cleveland?", "Frances Folsom Cleveland")
BORN = ("Where was Max Born born?", "Breslau")


@pytest.mark.parametrize(
    ("before", "follow_up", "question"),
    [
        (("Who composed La bohème?", "Giacomo Puccini"), "when did it premiere?", "When did La bohème premiere?"),
        (CLEVELAND, "when did they marry?", "When did Grover Cleveland and Frances Folsom Cleveland marry?"),
        (CLEVELAND, "and of William McKinley?", "Who was the wife of William McKinley?"),
        (
            ("Who was James A. Garfield's mother?", "Eliza Ballou"),
            "and Abraham Lincoln's?",
            "Who was Abraham Lincoln's mother?",
        ),
        (BORN, "sorry, I meant Max Planck", "Where was Max Planck born?"),
        (BORN, "his wife?", "Where was Max Born's wife born?"),
        (BORN, "And his mother?", "Who was Max Born's mother?"),
        (("When was Max Born born?", "11 December 1882"), "and his parents?", "Who were Max Born's parents?"),
        (("When did Max Born die?", "1970"), "and his mother?", "When did Max Born's mother die?"),
        (("Who was the 22nd president?", "Grover Cleveland"), "and the 23rd?", "Who was the 23rd president?"),
        (("What is the capital of Portugal?", "Lisbon"), "who lives there?", "Who lives in Lisbon?"),
        (("Who sang with Queen?", "Freddie Mercury"), "and who played the drums?", ""),
        (("Who was older, Niels Bohr or Harald Bohr?", "Niels Bohr"), "by how many years?", ""),
    ],
)
def test_follow_ups_that_the_first_rules_misread(before: tuple[str, str], follow_up: str, question: str) -> None:
    assert meant(follow_up, after(before)) == question
