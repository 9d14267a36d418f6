"""Reports: an outline first, then sections that keep to the facts; a limit or a fault keeps what is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fakes.harbour_articles import CAUSE, COURSE, Author, cited, text_reply
from fakes.scripted_llm import Scripted
from iterative_rag.errors import LLMUnreachable
from iterative_rag.protocols import ChatRequest
from iterative_rag.types import Answer, AnswerForm, Cap, ReasonCode, Status

QUESTION = "Write a report about the Fire of Karsa and the bridges."
LENGTH, OPENED, SONGS = "How long is the Orra Bridge?", "When was the Sunday Bridge opened?", "Which songs tell of it?"
OUTLINE = {
    "sections": [
        {"heading": "Causes", "questions": [CAUSE]},
        {"heading": "Course", "questions": [COURSE]},
        {"heading": "The bridges", "questions": [LENGTH, OPENED]},
        {"heading": "Songs", "questions": [SONGS]},
    ]
}
PARTS = {
    "Causes": ("left a lamp", "carried sparks"),
    "Course": ("destroyed 212", "rebuilt"),
    "The bridges": ("40 m", "1310"),
}


def section(request: ChatRequest) -> Scripted:
    heading = re.search(r'Write the section "(.*?)"', request.user)
    assert heading
    return text_reply(cited(request, *PARTS[heading[1]]))


def reported(
    write: Callable[[ChatRequest], Scripted] = section, *, question: str = QUESTION, **settings: Any
) -> tuple[Answer, Author]:
    plan = {"form": "report", "status": "needs", "needs": [CAUSE]}
    author = Author(write, outline=lambda request: OUTLINE, analyse=lambda request: plan)
    return author.rag(**{"length": "report"} | settings).ask(question), author


def test_sections_over_several_articles_with_what_is_missing() -> None:
    answer, author = reported()
    assert (answer.status, answer.form) == (Status.ANSWERED, AnswerForm.REPORT)
    assert answer.text.splitlines()[::2] == [
        "## Causes",
        "A watchman had left a lamp burning in the tar store [1]. The wind carried sparks to the timber yards [2].",
        "## Course",
        "The fire destroyed 212 houses and killed 14 people [3]. The town rebuilt the harbour in stone by 1911 [4].",
        "## The bridges",
        "The Orra Bridge is 40 m long [5]. The Sunday Bridge was opened in 1310 [6].",
    ]
    assert {citation.title for citation in answer.citations} == {"Fire of Karsa", "Orra Bridge", "Sunday Bridge"}
    assert answer.caveats == ("Nothing was found or written on: Songs.",)
    assert "analyse" not in author.calls
    assert (author.calls["outline"], author.calls["write"]) == (1, 3)


@pytest.mark.parametrize("others", [True, False])
def test_a_section_on_an_untrue_premise_is_told(others: bool) -> None:
    untrue = {"status": "false_premise", "answer": "", "missing": "the navy put out no fire", "confidence": 0.9}

    def write(request: ChatRequest) -> Scripted:
        return section(request) if others and 'section "Causes"' not in request.user else untrue

    answer, _ = reported(write)
    told = "The question assumes something untrue: the navy put out no fire"
    if others:
        assert answer.text.startswith("## Course")
        assert answer.caveats == (told, "Nothing was found or written on: Causes; Songs.")
    else:
        assert (answer.status, answer.reason_code) == (Status.ABSTAINED, ReasonCode.FALSE_PREMISE)
        assert answer.reason == told


@pytest.mark.parametrize(("question", "analyses"), [(QUESTION, 0), ("The Fire of Karsa, for a report", 1)])
def test_a_question_may_ask_for_a_report_by_itself(question: str, analyses: int) -> None:
    answer, author = reported(question=question, length="short")
    assert answer.form is AnswerForm.REPORT
    assert author.calls.get("analyse", 0) == analyses


def test_at_the_limit_of_calls_the_sections_that_are_written_stay() -> None:
    whole, author = reported()
    calls = sum(author.calls.values())
    answer, _ = reported(max_calls=calls - 1)
    assert (answer.status, answer.reason_code, answer.cap) == (Status.INCOMPLETE, ReasonCode.LIMIT, Cap.CALLS)
    assert answer.text == whole.text.partition("\n\n## The bridges")[0]
    assert answer.caveats == ("Nothing was found or written on: The bridges; Songs.",)


def test_a_fault_keeps_the_sections_that_are_written() -> None:
    def failing(request: ChatRequest) -> Scripted:
        down = LLMUnreachable("It does not answer.")
        return down if 'the section "The bridges"' in request.user else section(request)

    answer, _ = reported(failing)
    assert (answer.status, answer.reason_code) == (Status.INCOMPLETE, ReasonCode.FAULT)
    assert answer.text.count("## ") == 2


def test_a_section_of_which_nothing_is_proved_is_named_as_missing() -> None:
    def wrong(request: ChatRequest) -> Scripted:
        made_up = text_reply("In 1999 the Zeppelin of Orm flew over all of it [1].")
        return made_up if 'the section "Course"' in request.user else section(request)

    answer, _ = reported(wrong)
    assert "Zeppelin" not in answer.text
    assert answer.caveats == (
        "Left out, because no quoted fact proves it: 1 sentence.",
        "Nothing was found or written on: Course; Songs.",
    )


@pytest.mark.parametrize("outline", [{"sections": []}, "I would begin with the causes.", {"sections": ["Causes"]}])
def test_an_outline_that_fails_leaves_a_text_without_one(outline: Scripted) -> None:
    plan = {"form": "report", "status": "needs", "needs": [CAUSE], "last": True}
    author = Author(
        lambda request: text_reply(cited(request, "left a lamp")),
        outline=lambda request: outline,
        analyse=lambda request: plan,
        rephrase_and_analyse=lambda request: {"status": "known"},
    )
    answer = author.rag(length="report").ask(QUESTION)
    assert answer.form is AnswerForm.REPORT
    assert "## " not in answer.text
