"""Replies in plain lines, as models write them that cannot be brought to valid JSON."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.errors import ReplyTruncated
from iterative_rag.llm.prompts import prompt, versions
from iterative_rag.llm.replies.forms import (
    AnalysisReply,
    AnswerReply,
    ExtractionReply,
    PlanReply,
    ReflectionReply,
    RephrasingReply,
    Reply,
    RewordingReply,
    schema,
)
from iterative_rag.llm.replies.json_parsing import Unparsable
from iterative_rag.llm.replies.structured_call import ask, parse_plain
from iterative_rag.llm.roles.grader import GradesReply
from iterative_rag.protocols import ChatRequest

FACT = {"sentences": (3,), "statement": "Oda Brenk drew it.", "need": (), "value": "Oda Brenk"}
SEEN = {
    "as it was asked for": (AnalysisReply, "status: needs\nneed: Who?\nneed: When?\nend", {"needs": ["Who?", "When?"]}),
    "a word alone": (AnalysisReply, "Known.", {"status": "known", "needs": []}),
    "no status": (AnalysisReply, "need: Who drew it?", {"status": "needs", "needs": ["Who drew it?"]}),
    "markdown and chatter": (
        AnalysisReply,
        "Sure! Here it is:\n\n**Status:** needs\n1. **Need:** Who drew it?\n- need: When?\n\nHope this helps: ask!",
        {"status": "needs", "needs": ["Who drew it?", "When?"]},
    ),
    "a fence": (AnalysisReply, "```\nstatus: stuck\nreason: nobody knows\n```", {"reason": "nobody knows"}),
    "thoughts first": (AnalysisReply, "<think>need: no</think>\nstatus: known", {"status": "known", "needs": []}),
    "JSON all the same": (AnalysisReply, '{"status": "known"}', {"status": "known"}),
    "blocks": (
        ExtractionReply,
        "sentences: 3\nstatement: “Oda Brenk drew it.”\nvalue: Oda Brenk\n\n"
        "sentences: [4], 5\nneed: question 2\nvalue: 900",
        {"facts": [FACT, {"sentences": (4, 5), "statement": "", "need": (2,), "value": "900"}]},
    ),
    "no facts": (ExtractionReply, "facts: none", {"facts": []}),
    "a statement over two lines": (
        ExtractionReply,
        "sentences: 3\nstatement: Oda Brenk drew\nit.\nvalue: Oda Brenk",
        {"facts": [{**FACT, "statement": "Oda Brenk drew\nit."}]},
    ),
    "an answer": (
        AnswerReply,
        "status: answered\nanswer: Oda Brenk drew it [1].\nShort answer: Oda Brenk\nconfidence: 80%",
        {"status": "answered", "short_answer": "Oda Brenk", "confidence": 0.8, "answer": "Oda Brenk drew it [1]."},
    ),
    "a computation": (
        AnswerReply,
        "status: compute\ncompute: 1911 - 1874\nfacts: 2, 3",
        {"compute": [{"expression": "1911 - 1874", "facts": (2, 3)}]},
    ),
    "a rephrasing": (RephrasingReply, "question: When was Oda Brenk born?", {"question": "When was Oda Brenk born?"}),
    "a plan": (PlanReply, "done: no\nstep: Who drew it?\nstep: When?", {"done": False}),
    "done": (PlanReply, "done: yes", {"done": True, "steps": []}),
    "grades": (GradesReply, "n: 1\nlabel: Good\nn: 2\nlabel: Awful", {}),
    "phrasings": (RewordingReply, "phrasing: one\nphrasing: two\nend", {"phrasings": ["one", "two"]}),
    "claims": (ReflectionReply, "n: 1\nverdict: grounded\nfacts: [1]\nuseful: yes\nrefusal: no", {"useful": True}),
}


@pytest.mark.parametrize(("form", "text", "expected"), SEEN.values(), ids=SEEN)
def test_plain_lines_are_read(form: type[Reply], text: str, expected: dict[str, Any]) -> None:
    made = parse_plain(text, form).model_dump()
    assert {name: made[name] for name in expected} == expected


@pytest.mark.parametrize(
    "text", ["", "null", "I am not sure what you mean.", "<html><body>502 Bad Gateway</body></html>", "the " * 500]
)
@pytest.mark.parametrize("form", [AnalysisReply, ExtractionReply, AnswerReply, RephrasingReply, GradesReply])
def test_what_holds_no_line_is_refused_and_never_empty(form: type[Reply], text: str) -> None:
    with pytest.raises(Unparsable):
        parse_plain(text, form)


CUT = {
    "inside a statement": (ExtractionReply, "sentences: 2\nstatement: The Al", "bask bridge is old.\nvalue: old\nend"),
    "before a value": (ExtractionReply, "sentences: 2\nstatement: It is\nval", "ue: old\nend"),
    "in the second fact": (ExtractionReply, "statement: It is.\nvalue: old\nstatement: It", " is.\nvalue: grey\nend"),
    "inside an answer": (AnswerReply, "status: answered\nanswer: Edda", " [1].\nshort_answer: Edda\nend"),
    "inside a name": (
        AnswerReply,
        "status: answered\nanswer: It is Edda Alholm [1].\nshort_answer: Ed",
        "da Alholm\nend",
    ),
    "inside a need": (AnalysisReply, "status: needs\nneed: Who is the may", "or of Albamere?\nend"),
    "inside a question": (RephrasingReply, "question: Who is the may", "or of Albamere\nend"),
    "before a label": (GradesReply, "n: 1\nlabel: Good\nn: 2", "\nlabel: Awful\nend"),
}


@pytest.mark.parametrize(("form", "cut", "rest"), CUT.values(), ids=CUT)
def test_lines_that_were_cut_off_are_refused(form: type[Reply], cut: str, rest: str) -> None:
    """Half a fact proves nothing: the document then counted as one that says nothing."""
    assert parse_plain(cut + rest, form)
    with pytest.raises(Unparsable, match="cut off"):
        parse_plain(cut, form)


# --- asking for them --------------------------------------------------------------------------

REQUEST = ChatRequest("analyse", "system", "user", schema=schema(AnalysisReply))
PLAIN = prompt("analyse").plain


def test_plain_lines_are_asked_for_after_two_replies_that_cannot_be_read() -> None:
    with ScriptedLLM({"analyse": ["{", "no", "need: Who drew it?"]}) as llm:
        assert ask(llm, CountingBudget(), REQUEST, AnalysisReply, plain=PLAIN).needs == ["Who drew it?"]
    json_again, lines = llm.requests[1:]
    assert 'status (one of "known", "needs", "stuck")' in json_again.user
    assert json_again.schema == REQUEST.schema
    assert lines.schema is None
    assert lines.user.startswith("user")
    assert "it held no JSON object" in lines.user
    assert PLAIN in lines.user
    assert lines.user.endswith("last line: end")


def test_what_is_too_long_as_json_may_fit_as_lines() -> None:
    cut = ReplyTruncated("cut off at 16 tokens")
    cut.retryable = False
    with ScriptedLLM({"analyse": [cut, cut, "known"]}) as llm:
        assert ask(llm, CountingBudget(), REQUEST, AnalysisReply, plain=PLAIN).status == "known"
    with ScriptedLLM({"analyse": [cut, cut, cut]}) as llm, pytest.raises(ReplyTruncated):
        ask(llm, CountingBudget(), REQUEST, AnalysisReply, plain=PLAIN)


def test_every_role_of_a_question_has_a_plain_form() -> None:
    assert {role for role in versions() if not prompt(role).plain} == {"judge", "read", "recall"}
