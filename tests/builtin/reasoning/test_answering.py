"""What leaves as an answer: values of the kind that the whole question asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.index_free_loop import ROLES
from iterative_rag.types import Fact, Inquiry, Need, Support


def fact(need: str, value: str, title: str) -> Fact:
    quote = f"{title}: {value}."
    return Fact(quote, quote, value, title, title, f"{title}.md", 0, len(quote), Need(need), 0.9)


def given(asked: str, *facts: Fact) -> str:
    draft = ROLES.answerer.answer(Inquiry(asked, asked, facts, tried=tuple(one.need for one in facts)))
    assert draft.answered == bool(draft.short_answer)
    return draft.short_answer


@pytest.mark.parametrize(("value", "said"), [("8.06 metres", ""), ("25 years", "25 years")])
def test_a_value_of_another_kind_does_not_leave(value: str, said: str) -> None:
    asked = "How long did Bo Lund reign?"
    assert given(asked, fact(asked, value, "Bo Lund")) == said


def test_the_kind_of_a_question_that_asks_late_is_not_known() -> None:
    town = fact("In which town did Bo Lund die?", "Tellby", "Bo Lund")
    count = fact("Tellby has how many districts?", "4", "Tellby")
    assert given("The town where Bo Lund died has how many districts?", town, count) == "4"


@pytest.mark.parametrize(
    ("score", "support", "said"),
    [(0.55, Support.AGREES, "Una Orr"), (0.5, Support.SILENT, ""), (0.65, Support.SILENT, "Una Orr")],
)
def test_an_answer_that_no_quote_bears_out_in_full_needs_more_trust(score: float, support: Support, said: str) -> None:
    asked = "Who painted Dawn?"
    assert given(asked, replace(fact(asked, "Una Orr", "Dawn"), score=score, support=support)) == said


def test_a_value_that_the_plan_spells_out_is_marked_all_the_same() -> None:
    asked, need = (
        "Which university in the US did Bo Orm attend?",
        "Which university in the United States did Bo Orm attend?",
    )
    held = fact(need, "Karsa State University", "Bo Orm")
    assert ROLES.answerer.answer(Inquiry(asked, asked, (held,), tried=(held.need,))).text.endswith("University [1].")
