"""The joint call after a hop: the question with what was found put in, and what is missing next, from one reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Continuation, Known, Need, Needs, Stuck
from tests.llm.inquiries import FINISHED, INQUIRY, roles

QUESTION = "How old was Oda Brenk in 1911?"
BORN = "When was Oda Brenk born?"
BOTH: dict[str, Any] = {"reason": "Found.", "question": QUESTION, "status": "needs", "needs": [BORN], "last": True}
WHOLE = Continuation(QUESTION, Needs((Need(BORN),), last=True))


def proceeded(*replies: Any) -> tuple[Continuation, ScriptedLLM]:
    with ScriptedLLM({"rephrase_and_analyse": list(replies)}) as llm:
        joint = roles(llm).joint_analyst
        assert joint is not None
        return joint.proceed(INQUIRY, [FINISHED]), llm


def test_one_reply_holds_the_question_and_its_analysis() -> None:
    made, llm = proceeded(BOTH)
    assert made == WHOLE
    user = llm.requests[0].user
    assert "ORIGINAL QUESTION: How old was the architect?" in user
    assert "CURRENT QUESTION: How old was Oda Brenk?" in user
    assert "[2] It was finished in 1911." in user
    assert "NEW FACTS: [2]\n" in user
    assert "Who designed Velm Tower? -> [1][2]" in user


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(BOTH)}\n```",
        f"Sure! The new question is [1]:\n{json.dumps(BOTH, indent=1)}\nAnything else?",
        f"<think>known?</think>{json.dumps(BOTH)}",
        f"[{json.dumps(BOTH)}]",
        str(BOTH),
        json.dumps({**BOTH, "status": "Needs.", "needs": BORN, "last": "yes"}),
        json.dumps({**BOTH, "needs": [{"question": BORN}]}),
        json.dumps({key: value for key, value in BOTH.items() if key != "status"}),
    ],
)
def test_it_is_read_as_models_write_it(text: str) -> None:
    assert proceeded(text)[0] == WHOLE


@pytest.mark.parametrize("last", [None, "", "no", 0, "perhaps", [BORN], {"need": BORN}])
def test_a_need_is_the_last_only_where_the_reply_plainly_says_so(last: Any) -> None:
    assert proceeded({**BOTH, "last": last})[0] == Continuation(QUESTION, Needs((Need(BORN),)))


def test_plain_lines_hold_both_halves() -> None:
    lines = f"question: {QUESTION}\nstatus: needs\nneed: {BORN}\nlast: yes\nend"
    assert proceeded("no", "no", lines)[0] == WHOLE


@pytest.mark.parametrize("half", [{"question": QUESTION}, {**BOTH, "status": "unclear"}, {**BOTH, "status": None}])
def test_a_reply_without_an_analysis_leaves_that_open(half: dict[str, Any]) -> None:
    assert proceeded(half)[0] == Continuation(QUESTION)


def test_a_reply_without_a_question_leaves_that_open() -> None:
    assert proceeded({**BOTH, "question": None})[0] == Continuation(None, WHOLE.analysis)


def test_what_is_known_needs_no_other_question() -> None:
    assert proceeded({"status": "known"})[0] == Continuation(INQUIRY.question, Known())
    stuck = proceeded({"question": QUESTION, "status": "stuck", "reason": "No such tower."})[0]
    assert stuck == Continuation(QUESTION, Stuck("No such tower."))


def test_a_question_that_copies_a_document_is_asked_for_again_and_then_left_out() -> None:
    long = {**BOTH, "question": "Oda Brenk was an architect. " * 50}
    made, llm = proceeded(long, long)
    assert made == Continuation(INQUIRY.question, WHOLE.analysis)
    assert "far too long" in llm.requests[1].user


def test_needs_tried_before_are_complained_about() -> None:
    made, llm = proceeded({**BOTH, "needs": ["who designed velm tower"]}, BOTH)
    assert made == WHOLE
    assert "tried already" in llm.requests[1].user


@pytest.mark.parametrize("text", ["", "I cannot do that.", '{"question": "How old', '{"reason": "x"}'])
def test_a_reply_with_neither_half_is_told_so_and_then_fails(text: str) -> None:
    with pytest.raises(ReplyUnreadable):
        proceeded(text, text, text)


def test_a_setting_keeps_the_two_roles_apart() -> None:
    assert roles(ScriptedLLM({}), analysis="separate").joint_analyst is None
