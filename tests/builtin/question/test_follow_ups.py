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


# No rule is spent on these: they are refused, and the user is asked for the name.
REFUSED = {"no, I meant the director", "no, I meant Niels", "and in miles?", "and in feet?", "how old was he then?"}
REFUSED |= {"who else?", "why?", "and he?", "and her husband?", "in which year was the novel published?"}
# A comparison with what was spoken of is read as a question that stands alone.
JUDGED = [(case, earlier) for case, earlier in cases() if case.asked != "is Mount Rainier higher?"]


@pytest.mark.parametrize(("case", "earlier"), JUDGED, ids=lambda value: getattr(value, "asked", ""))
def test_a_follow_up_stands_alone_or_is_refused(case: Case, earlier: Earlier) -> None:
    said = meant(case.asked, earlier)
    if case.meant and case.asked not in REFUSED:
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
        (BORN, "and Max Planck?", "Where was Max Planck born?"),
        (BORN, "how old was he when he died?", "How old was Max Born when Max Born died?"),
        (BORN, "when did Marie Curie marry her husband?", "When did Marie Curie marry her husband?"),
        (("What is the capital of Portugal?", "Lisbon"), "who lives there?", "Who lives in Lisbon?"),
        (("What is the capital of Portugal?", "Lisbon"), "how many rivers are there?", ""),
        (("When did Orla Venn marry Tessa Brik?", "1950"), "where was she born?", ""),
        (("When did Orla Venn's husband die?", "1950"), "where was he born?", "Where was Orla Venn's husband born?"),
        (("Who designed the Orm Tower?", "Karl Voss"), "who visited it?", "Who visited the Orm Tower?"),
        (("Who designed the Orm Tower?", "Karl Voss and Bo Li"), "when was he born?", ""),
        (("When was the Orm Tower built?", "1950"), "when did he die?", ""),
        (("When was the Orm Tower built?", "1950"), "and Karl Voss?", ""),
        (("Who met Karl Voss in 1950?", "Bo Li"), "and in 1951?", "Who met Karl Voss in 1951?"),
        (("Who met Karl Voss from 1950 to 1952?", "Bo Li"), "and in 1951?", ""),
        (("Who met Karl Voss at Orm Tower?", "Bo Li"), "and Doctor Who?", ""),
        (BORN, "sorry, I meant Max Planck", ""),
        (BORN, "and his mother?", ""),
        (BORN, "and planck?", ""),
        (BORN, "where was marie curie born?", "Where was marie curie born?"),  # typed in small letters
        (BORN, "what is the longest river?", "What is the longest river?"),
        (BORN, "when was the church built?", ""),
        (BORN, "was it big?", "Was Breslau big?"),
        (("Who was Max Born's mother?", "Margarethe Kauffmann"), "and Abraham Lincoln's?", ""),
        (("Who sang with Queen?", "Freddie Mercury"), "and who played the drums?", ""),
        (("Who was older, Niels Bohr or Harald Bohr?", "Niels Bohr"), "by how many years?", ""),
    ],
)
def test_a_name_is_put_in_only_where_no_other_fits(before: tuple[str, str], follow_up: str, question: str) -> None:
    assert meant(follow_up, after(before)) == question
