"""The analyst: what is known, what is needed, and when nothing more can be done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Inquiry, Known, Need, Needs, Stuck
from tests.llm.inquiries import INQUIRY, roles

EMPTY = Inquiry("How old was the architect?", "How old was the architect?")


def test_needs_come_clean_and_at_most_four() -> None:
    asked: list[str] = ["Who composed  Ardis?", "who composed Ardis", "A?", "B?", "C?", "D?"]
    with ScriptedLLM({"analyse": [{"status": "needs", "needs": asked}]}) as llm:
        analysis = roles(llm).analyst.analyse(EMPTY)
    assert analysis == Needs(tuple(Need(text) for text in ("Who composed Ardis?", "A?", "B?", "C?")))


@pytest.mark.parametrize(
    ("written", "question", "see"),
    [
        ('Who designed it? (see "Velm Tower (Karsa)")', "Who designed it?", "Velm Tower (Karsa)"),
        ("Who designed it (see Velm Tower)?", "Who designed it?", "Velm Tower"),
        ("Who designed it? (see “Velm Tower”)", "Who designed it?", "Velm Tower"),
        ("Who wrote See Naples (novel)?", "Who wrote See Naples (novel)?", ""),
    ],
)
def test_where_to_look_is_no_part_of_the_need(written: str, question: str, see: str) -> None:
    with ScriptedLLM({"analyse": [{"status": "needs", "needs": [written]}]}) as llm:
        analysis = roles(llm).analyst.analyse(EMPTY)
    assert isinstance(analysis, Needs)
    assert [(need.question, need.see) for need in analysis.needs] == [(question, see)]


def test_known_and_stuck() -> None:
    replies: list[Any] = [{"status": "known", "needs": []}, {"status": "stuck", "reason": "There was no such tower."}]
    with ScriptedLLM({"analyse": replies}) as llm:
        analyst = roles(llm).analyst
        assert analyst.analyse(INQUIRY) == Known()
        assert analyst.analyse(INQUIRY) == Stuck("There was no such tower.")


def test_the_prompt_holds_where_the_loop_stands() -> None:
    with ScriptedLLM({"analyse": [{"status": "known"}]}) as llm:
        roles(llm).analyst.analyse(INQUIRY)
    user = llm.requests[0].user
    assert "How old was the architect?" in user
    assert "How old was Oda Brenk?" in user
    assert "[1] Oda Brenk designed it." in user
    assert "[2] It was finished in 1911." in user
    assert "Who designed Velm Tower? -> [1][2]" in user


def test_a_try_that_brought_nothing_is_told() -> None:
    inquiry = Inquiry("Q?", "Q?", (), (Need("Who?"),))
    with ScriptedLLM({"analyse": [{"status": "needs", "needs": ["What?"]}]}) as llm:
        roles(llm).analyst.analyse(inquiry)
    assert "Who? -> nothing found" in llm.requests[0].user


def test_known_without_facts_is_complained_about_then_looked_up() -> None:
    with ScriptedLLM({"analyse": [{"status": "known"}, {"status": "known"}]}) as llm:
        assert roles(llm).analyst.analyse(EMPTY) == Needs((Need(EMPTY.question),))
    assert "no facts yet" in llm.requests[1].user


def test_needs_that_name_none_are_complained_about() -> None:
    with ScriptedLLM({"analyse": [{"status": "needs", "needs": []}, {"status": "needs", "needs": ["Who?"]}]}) as llm:
        assert roles(llm).analyst.analyse(EMPTY) == Needs((Need("Who?"),))
    assert "names no question" in llm.requests[1].user


def test_needs_tried_before_are_complained_about() -> None:
    again = {"status": "needs", "needs": ["who designed velm tower"]}
    with ScriptedLLM({"analyse": [again, {"status": "known"}]}) as llm:
        assert roles(llm).analyst.analyse(INQUIRY) == Known()
    assert "tried already" in llm.requests[1].user


def test_a_fact_noted_for_another_part_of_the_question_is_about_no_need_that_was_tried() -> None:
    noted = replace(INQUIRY.facts[1], need=Need(INQUIRY.original), value="")
    with ScriptedLLM({"analyse": [{"status": "needs", "needs": ["When was Oda Brenk born?"]}]}) as llm:
        roles(llm).analyst.analyse(replace(INQUIRY, facts=(INQUIRY.facts[0], noted)))
    tried = llm.requests[0].user.partition("TRIED ALREADY:")[2]
    assert tried.split("\n")[1:2] == ["- Who designed Velm Tower? -> [1]"]
    assert INQUIRY.original not in tried
