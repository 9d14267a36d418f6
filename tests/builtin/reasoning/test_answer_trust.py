"""The trust in an answer as a whole, by the installed reader."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iterative_rag.builtin.reasoning.answer_trust import Answering, FittedAnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.node_result import NodeValue
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.types import Computation, Fact, Inquiry, Need

ASKED = "Who designed the Velm Tower?"
QUOTE = "The Velm Tower was designed by Oda Brenk in 1931."
VALUE = NodeValue("Oda Brenk", (0,), score=0.6, chain=0.6)


@pytest.fixture(scope="module")
def trust() -> FittedAnswerTrust:
    return FittedAnswerTrust(ReaderRoles())


def fact(quote: str = QUOTE, value: str = "Oda Brenk", need: str = ASKED) -> Fact:
    return Fact(quote, quote, value, "d1", "Velm Tower", "velm.md", 0, len(quote), Need(need), 0.6)


def answering(asked: str = ASKED, values: tuple[NodeValue, ...] = (VALUE,), *facts: Fact) -> Answering:
    return Answering(asked, Inquiry(asked, asked, facts or (fact(),)), values)


def test_an_answer_whose_quote_holds_the_question_is_trusted_more(trust: FittedAnswerTrust) -> None:
    elsewhere = answering("Which opera singer from Karsa married the owner of the Velm Tower?")
    assert trust(answering()) > trust(elsewhere) + 0.1


def test_rivals_take_trust_away_and_other_writings_of_the_value_do_not(trust: FittedAnswerTrust) -> None:
    rival, same = replace(VALUE, text="Karl Reed", score=0.5), replace(VALUE, text="Brenk", score=0.5)
    assert trust(answering(values=(VALUE, rival))) < trust(answering(values=(VALUE, same))) == trust(answering())


def test_a_yes_that_another_passage_denies_is_trusted_less(trust: FittedAnswerTrust) -> None:
    asked, yes = "Is the Velm Tower taller than the Orm Mast?", replace(VALUE, text="yes")
    said = fact("The Velm Tower is taller than the Orm Mast.", "yes", asked)
    denied = replace(fact("The Orm Mast is the tallest of all.", "no", asked), document_id="d2")
    unopposed = trust(answering(asked, (yes,), said))
    assert trust(answering(asked, (yes,), said, denied)) < unopposed
    assert trust(answering(asked, (yes,), said, replace(denied, value="yes"))) == unopposed


def test_what_was_worked_out_need_not_stand_in_a_quote(trust: FittedAnswerTrust) -> None:
    asked = "How many years after the Velm Tower was the Orm Mast completed?"
    facts = (
        fact("The Velm Tower was completed in 1931.", "1931", "When was the Velm Tower completed?"),
        fact("The Orm Mast was completed in 1988.", "1988", "When was the Orm Mast completed?"),
    )
    value = NodeValue("57 years", (0, 1), 0.8, computations=(Computation("1988 - 1931", "57", (1, 0)),))
    assert trust(answering(asked, (value,), *facts)) > 0.6


@pytest.mark.parametrize(
    "given",
    [
        answering(ASKED, (VALUE,), fact("| Designer | Oda Brenk |")),
        answering(values=(replace(VALUE, facts=()),)),
    ],
    ids=["row of a table", "no facts"],
)
def test_what_the_weights_do_not_hold_for_keeps_its_own_trust(trust: FittedAnswerTrust, given: Answering) -> None:
    assert trust(given) == weakest_step(given) == 0.6
