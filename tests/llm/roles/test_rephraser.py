"""The rephraser: the question, with what was found put in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Inquiry, Need
from tests.llm.inquiries import DESIGNER, FINISHED, INQUIRY, TRIED, fact, roles


def test_rephrasing_is_told_all_and_gives_the_question() -> None:
    with ScriptedLLM({"rephrase": [{"question": "How old was\nOda Brenk in 1911?"}]}) as llm:
        inquiry = replace(INQUIRY, facts=(DESIGNER,))
        assert roles(llm).rephraser.rephrase(inquiry, [FINISHED]) == "How old was Oda Brenk in 1911?"
    user = llm.requests[0].user
    assert INQUIRY.original in user
    assert INQUIRY.question in user
    assert "[1] Oda Brenk designed it." in user
    assert "[2] It was finished in 1911." in user
    assert "NEW FACTS: [2]\n" in user


def test_what_was_found_for_two_needs_is_shown_once() -> None:
    again = replace(DESIGNER, need=Need("Who is the architect of Velm Tower?"))
    inquiry = Inquiry("Q?", "Q?", (DESIGNER, FINISHED, again), (TRIED, again.need))
    with ScriptedLLM({"analyse": [{"status": "known", "needs": []}]}) as llm:
        roles(llm).analyst.analyse(inquiry)
    user = llm.requests[0].user
    assert user.count(DESIGNER.statement) == 2  # the statement and its quote, once each
    assert "- Who is the architect of Velm Tower? -> [1]" in user


def test_one_statement_of_one_quote_is_one_fact_whatever_value_it_has_for_each_need() -> None:
    """It was listed once for each need, with a number of its own, and its second number counted as a new fact."""
    whole = replace(DESIGNER, need=Need("How old was the architect?"), value="")
    inquiry = replace(INQUIRY, facts=(DESIGNER,))
    with ScriptedLLM({"rephrase": [{"question": "How old was Oda Brenk in 1911?"}]}) as llm:
        roles(llm).rephraser.rephrase(inquiry, [whole, FINISHED])
    user = llm.requests[0].user
    assert "the quote of" not in user
    assert "[3] It was finished in 1911." in user
    assert "NEW FACTS: [3]\n" in user


def test_a_quote_that_proves_two_facts_is_shown_once() -> None:
    quote = "Oda Brenk (1874-1950) designed it."
    born = replace(fact("Oda Brenk was born in 1874.", "1874", quote), start=5, end=40)
    died = replace(fact("Oda Brenk died in 1950.", "1950", quote), start=5, end=40)
    with ScriptedLLM({"analyse": [{"status": "known", "needs": []}]}) as llm:
        roles(llm).analyst.analyse(Inquiry("Q?", "Q?", (born, died), (TRIED,)))
    assert llm.requests[0].user.count(quote) == 1
    assert "[2] Oda Brenk died in 1950. (the quote of [1])" in llm.requests[0].user


def test_a_look_up_that_brought_no_value_is_marked() -> None:
    near = fact("She moved to Karsa in 1949.")
    with ScriptedLLM({"analyse": [{"status": "stuck", "needs": []}]}) as llm:
        roles(llm).analyst.analyse(Inquiry("Q?", "Q?", (near,), (TRIED,)))
    assert "-> [1] (partly" in llm.requests[0].user


def test_nothing_found_rephrases_nothing_and_costs_nothing() -> None:
    with ScriptedLLM({}) as llm:
        assert roles(llm).rephraser.rephrase(INQUIRY, []) == INQUIRY.question


@pytest.mark.parametrize("bad", ["", "Oda Brenk was an architect. " * 50])
def test_an_unusable_rephrasing_leaves_the_question(bad: str) -> None:
    with ScriptedLLM({"rephrase": [{"question": bad}] * 2}) as llm:
        assert roles(llm).rephraser.rephrase(INQUIRY, [FINISHED]) == INQUIRY.question
