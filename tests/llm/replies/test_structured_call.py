"""Model text -> typed reply, whatever the model wraps it in; and the one informed retry."""

from __future__ import annotations

import json
from typing import Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.counting_budget import CountingBudget
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.errors import CapReached, ReplyTruncated, ReplyUnreadable
from iterative_rag.llm.replies.forms import (
    AnalysisReply,
    AnswerReply,
    ExtractionReply,
    JudgedClaim,
    JudgeReply,
    PlanReply,
    RecallReply,
    ReflectionReply,
    RephrasingReply,
    Reply,
    schema,
    schema_version,
)
from iterative_rag.llm.replies.json_parsing import Unparsable, parse
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import ChatReply, ChatRequest

REQUEST = ChatRequest("analyse", "system", "user")
KNOWN = '{"reason": "all [1] there", "status": "known", "needs": []}'
TYPES: list[type[Reply]] = [
    *(AnalysisReply, ExtractionReply, RephrasingReply, AnswerReply, RecallReply, JudgeReply),
    ReflectionReply,
]


@pytest.mark.parametrize(
    "text",
    [
        KNOWN,
        f"```json\n{KNOWN}\n```",
        f"```\n{KNOWN}\n```\nI hope this helps!",
        f"Sure! As [1] and {{2}} say, here it is:\n{KNOWN}\nAnything else? [yes/no]",
        f'<think>needs {{"status": "stuck"}}?</think>{KNOWN}',
        f'it was opened by the template {{"status": "stuck"}}</think>\n{KNOWN}',
        f"[{KNOWN}]",
        '{"reason": "all [1] there", "status": "known", "needs": [],}',
        '{"reason": "all [1] there", "status": "Known", "needs": null}',
        "{'reason': 'all [1] there', 'status': 'known', 'needs': []}",
        '{"reason": "all [1] there",\n "status": "known", "needs": [], "extra": {"a": [1]}}',
        f'{{"status": "stuck"}} No, wait: {KNOWN}',
        f"\ufeff{KNOWN}",
    ],
)
def test_a_reply_is_found_in_its_wrapping(text: str) -> None:
    assert parse(text, AnalysisReply) == AnalysisReply(reason="all [1] there", status="known", needs=[])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I can't perform this task.", "no JSON"),
        ('{"reason": "cut off in the mi', "cut off"),
        ('{"reason": "x", "status": "known", "needs": [', "cut off"),
        ('{"reason": "x"}', "status"),
        ('{"status": "maybe"}', "status"),
        ("[]", "valid"),
        ('["Who?"]', "valid"),
        ("{'status': open('/etc/passwd')}", "not valid"),
        ('{"status": "needs", "needs": {{"question": "Who?"}}}', "status"),
    ],
)
def test_what_is_no_reply_says_why(text: str, said: str) -> None:
    with pytest.raises(Unparsable, match=said):
        parse(text, AnalysisReply)


def test_wrong_scalars_are_read_as_what_they_mean() -> None:
    needs = parse('{"status": "needs", "needs": "Who?"}', AnalysisReply).needs
    assert needs == ["Who?"]
    wrapped = parse('{"status": "needs", "needs": [{"question": "Who?"}, "", "When?"]}', AnalysisReply)
    assert wrapped.needs == ["Who?", "When?"]
    (fact,) = parse('{"facts": {"sentences": "2", "statement": "s", "value": 1911}}', ExtractionReply).facts
    assert fact.value == "1911"
    (bare,) = parse('[{"statement": "s", "sentences": "[2], 3"}]', ExtractionReply).facts
    assert bare.sentences == (2, 3)
    answer = parse('{"status": "Not in facts", "short_answer": 3, "missing": null, "answer": ["a", "b"]}', AnswerReply)
    assert (answer.status, answer.short_answer, answer.missing, answer.answer) == ("not_in_facts", "3", "", "a, b")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.8", 0.8),
        ('"0.8"', 0.8),
        ('"80%"', 0.8),
        ("80", 0.8),
        ("-3", 0.0),
        ('"high"', 0.9),
        ("null", 0.5),
        ("1", 1.0),
    ],
)
def test_confidence_is_a_share(written: str, meant: float) -> None:
    assert parse(f'{{"status": "answered", "confidence": {written}}}', AnswerReply).confidence == meant


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    before=st.text("abc \n.,:!?'", max_size=40), after=st.text("abc \n.,:!?'", max_size=40), reason=TEXTS, need=TEXTS
)
def test_any_text_survives_inside_chatter_and_fences(before: str, after: str, reason: str, need: str) -> None:
    said = {"reason": reason, "status": "needs", "needs": [f"q{need}"]}
    for written in (json.dumps(said), json.dumps(said, ensure_ascii=False, indent=1)):
        read = parse(f"{before}\n```json\n{written}\n```\n{after}", AnalysisReply)
        assert read.needs == [f"q{need}".strip()]
        assert read.reason == reason.strip()


@pytest.mark.parametrize("reply_type", TYPES)
def test_schemas_are_strict_flat_and_in_the_order_of_writing(reply_type: type[Reply]) -> None:
    sent = schema(reply_type)
    jsonschema.Draft202012Validator.check_schema(sent)
    assert "$ref" not in json.dumps(sent)
    assert sent["required"] == list(sent["properties"]) == list(reply_type.model_fields)
    assert sent["additionalProperties"] is False
    assert schema_version(reply_type) == schema_version(reply_type)
    assert len({schema_version(kind) for kind in TYPES}) == len(TYPES)


# --- asking --------------------------------------------------------------------------------------


def test_one_good_reply_is_one_call_within_the_meters_time() -> None:
    meter = CountingBudget()
    with ScriptedLLM({"analyse": [KNOWN]}) as llm:
        assert ask(llm, meter, REQUEST, AnalysisReply).status == "known"
    assert meter.events == ["before", "after"]
    assert llm.requests[0].seconds == 12.5


def test_an_unreadable_reply_is_asked_for_again_with_the_reason() -> None:
    meter = CountingBudget()
    with ScriptedLLM({"analyse": ['{"status": "perhaps"}', KNOWN]}) as llm:
        assert ask(llm, meter, REQUEST, AnalysisReply).status == "known"
    second = llm.requests[1]
    assert second.system == "system"
    assert second.user.startswith("user")
    assert "'status'" in second.user
    assert "perhaps" in second.user
    assert meter.events == ["before", "after", "before", "after"]


@pytest.mark.parametrize("text", ["", "no", "```json\n{broken\n```", '{"status": "known", "needs": ['])
def test_twice_unreadable_is_a_typed_error_that_keeps_the_cost(text: str) -> None:
    meter = CountingBudget()
    replies = [ChatReply(text, 100, 10), ChatReply(text, 130, 20)]
    with ScriptedLLM({"analyse": replies}) as llm, pytest.raises(ReplyUnreadable) as caught:
        ask(llm, meter, REQUEST, AnalysisReply)
    usage = caught.value.usage
    assert (usage.llm_calls, usage.prompt_tokens, usage.completion_tokens) == (2, 230, 30)
    assert caught.value.reply == text
    assert "analyse" in str(caught.value)
    assert caught.value.hint


def test_a_third_attempt_goes_without_the_schema() -> None:
    request = ChatRequest("analyse", "system", "user", schema=schema(AnalysisReply))
    with ScriptedLLM({"analyse": ["{", "no", KNOWN]}) as llm:
        assert ask(llm, CountingBudget(), request, AnalysisReply, attempts=3).status == "known"
    assert [asked.schema for asked in llm.requests] == [request.schema, request.schema, None]
    assert "it held no JSON object" in llm.requests[2].user
    assert 'status (one of "known", "needs", "stuck")' in llm.requests[2].user


def test_a_complaint_costs_the_retry_but_never_the_reply() -> None:
    complaints: list[str] = []

    def check(reply: AnalysisReply) -> str:
        complaints.append(reply.reason)
        return "not good enough"

    with ScriptedLLM({"analyse": [KNOWN, "no JSON"]}) as llm:
        assert ask(llm, CountingBudget(), REQUEST, AnalysisReply, check).status == "known"
    assert "not good enough" in llm.requests[1].user
    assert complaints == ["all [1] there"]


def test_a_reply_that_was_too_long_is_asked_for_shorter() -> None:
    cut = ReplyTruncated("cut off at 16 tokens")
    cut.retryable = False
    meter = CountingBudget()
    with ScriptedLLM({"analyse": [cut, KNOWN]}) as llm:
        assert ask(llm, meter, REQUEST, AnalysisReply).status == "known"
    assert "shorter" in llm.requests[1].user
    assert meter.events == ["before", "failed", "before", "after"]


def test_a_cap_also_holds_for_the_retry() -> None:
    with ScriptedLLM({"analyse": ["no"]}) as llm, pytest.raises(CapReached):
        ask(llm, CountingBudget(limit=1), REQUEST, AnalysisReply)


# --- the reflecting roles -------------------------------------------------------------------------


CLAIM = JudgedClaim(n=1, verdict="grounded", facts=(1, 3))


@pytest.mark.parametrize(
    "written",
    [
        '[{"n": 1, "verdict": "grounded", "facts": [1, 3]}]',
        '[{"n": "claim 1", "verdict": "Grounded.", "facts": "[1][3]"}]',
        '[{"verdict": true, "facts": "1, 3"}]',
        '[{"verdict": "supported", "facts": ["1", "[3]"]}]',
        '{"n": 1, "verdict": "grounded", "facts": [1, 3]}',
    ],
)
def test_claims_are_read_however_they_are_written(written: str) -> None:
    text = f'Here you go:\n```json\n{{"reason": "r", "claims": {written}, "useful": "Yes", "gap": "None"}}\n```'
    reply = parse(text, ReflectionReply)
    assert reply.claims == (CLAIM,)
    assert (reply.useful, reply.refusal, reply.gap) == (True, False, "")


@pytest.mark.parametrize(
    ("verdict", "meant"),
    [
        ("not grounded", "not_grounded"),
        ("Not_Grounded", "not_grounded"),
        ("unsupported", "not_grounded"),
        ("partially supported", "not_grounded"),
        ("false", "not_grounded"),
    ],
)
def test_anything_that_denies_is_not_grounded(verdict: str, meant: Literal["grounded", "not_grounded"]) -> None:
    reply = parse(f'{{"claims": [{{"verdict": "{verdict}"}}], "useful": true}}', ReflectionReply)
    assert reply.claims == (JudgedClaim(n=1, verdict=meant),)


@pytest.mark.parametrize(
    ("written", "done"),
    [("true", True), ('"Yes."', True), ("1", True), ('"false"', False), ("0", False), ("null", False)],
)
def test_a_flag_is_read_as_what_it_means(written: str, done: bool) -> None:
    assert parse(f'{{"done": {written}, "steps": []}}', PlanReply) == PlanReply(done=done)
