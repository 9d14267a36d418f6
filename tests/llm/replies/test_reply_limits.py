"""Replies that would cost time and memory beyond any use: brackets, words and fields without an end."""

from __future__ import annotations

import json

import pytest

from iterative_rag.llm.replies.forms import AnalysisReply, AnswerReply
from iterative_rag.llm.replies.json_parsing import Unparsable, answer_so_far, ends_in_json, parse
from iterative_rag.llm.replies.tool_calls import AgentReply
from tests.nightly import sliced

KNOWN = '{"reason": "all there", "status": "known", "needs": []}'
MANY = 60_000
BOMBS = {
    "lists": "[" * MANY,
    "objects": '{"a":' * MANY,
    "closed lists": "[" * MANY + "]" * MANY,
    "texts": '["\\"' * MANY,
    "texts that hide brackets": '["\\"[\\"' * MANY,
    "brackets that do not fit": "[}" * MANY,
    "one that does not close": "[" + "[]" * MANY,
    "thoughts": "<think>" * MANY + "x",
    "ends of thoughts": "</think>" * MANY + "x",
    "lines": "a" + "\n" * MANY + "b",
    "stars": "*" * MANY + "b",
    "marks of a list": "- " * MANY + "b",
    "calls": "Action: x\n" * MANY,
    "spaces before a colon": "reason" + " " * MANY + "x",
    "a number": '{"status": ' + "9" * MANY + "}",
    "commas": "{" + ", " * MANY + "}",
}


@pytest.mark.parametrize("name", sliced(BOMBS, 3))
def test_what_holds_no_reply_is_told_so_at_once(name: str) -> None:
    """Sixty thousand brackets took two minutes."""
    for form in (AnalysisReply, AnswerReply, AgentReply):
        with pytest.raises(Unparsable):
            parse(BOMBS[name], form)
    assert not ends_in_json(BOMBS[name], only=True) or name in ("closed lists", "a number", "commas")
    assert answer_so_far(BOMBS[name]) == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"status": "known", "reason": "x" * 80_000}, "the field 'reason' has 80,000 characters"),
        ({"status": "known", "reason": "x " * 80_000}, "the field 'reason' has 160,000 characters"),
        ({"status": "needs", "needs": ["Who?", "y" * 5000]}, "the field 'needs' holds a word"),
        ({"status": "known", "other": {"deep": ["é" * 5000]}}, "the field 'deep' holds a word"),
    ],
)
def test_a_text_of_a_length_that_nobody_asked_for_is_refused_and_named(value: object, told: str) -> None:
    with pytest.raises(Unparsable, match=told):
        parse(json.dumps(value), AnalysisReply)


@pytest.mark.parametrize(
    ("text", "whole", "ends"),
    [
        (KNOWN, True, True),
        (f"```json\n{KNOWN}\n```", True, True),
        (f"<think>a {{</think>\n{KNOWN} \n\n", True, True),
        (f"I think so: {KNOWN}", False, True),
        (f"{KNOWN} or not?", False, False),
        (KNOWN[:-3], False, False),
        (KNOWN[:30], False, False),
        ("", False, False),
    ],
)
def test_a_reply_is_whole_where_its_json_is(text: str, whole: bool, ends: bool) -> None:
    assert (ends_in_json(text, only=True), ends_in_json(text)) == (whole, ends)
