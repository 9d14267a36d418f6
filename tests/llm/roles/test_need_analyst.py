"""The analyst and the rephraser, apart and in one call: what is known or needed, and the question in new words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fakes.scripted_llm import ScriptedLLM
from iterative_rag.errors import ReplyUnreadable
from iterative_rag.types import Analysis, AnswerForm, Continuation, Draft, Fact, Inquiry, Known, Need, Needs, Stuck
from tests.llm.inquiries import DESIGNER, FINISHED, INQUIRY, TRIED, played, roles

EMPTY = Inquiry("How old was the architect?", "How old was the architect?")
BARREN = replace(INQUIRY, facts=tuple(replace(fact, value="") for fact in INQUIRY.facts))


def analysed(inquiry: Inquiry, *replies: Any) -> tuple[Analysis, list[str]]:
    return played(lambda roles: roles.analyst.analyse(inquiry), analyse=replies)


def rephrased(inquiry: Inquiry, found: Sequence[Fact], *replies: Any) -> tuple[str, list[str]]:
    return played(lambda roles: roles.rephraser.rephrase(inquiry, found), rephrase=replies)


def needing(*needs: str) -> dict[str, Any]:
    return {"status": "needs", "needs": list(needs)}


def test_needs_come_clean_and_at_most_eight() -> None:
    asked = needing("Who composed  Ardis?", "who composed Ardis", *(f"{letter}?" for letter in "ABCDEFGH"))
    wanted = Needs(tuple(Need(text) for text in ("Who composed Ardis?", *(f"{letter}?" for letter in "ABCDEFG"))))
    assert analysed(EMPTY, asked)[0] == wanted


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
    analysis, _ = analysed(EMPTY, needing(written))
    assert isinstance(analysis, Needs)
    assert [(need.question, need.see) for need in analysis.needs] == [(question, see)]


def test_known_and_stuck() -> None:
    assert analysed(INQUIRY, {"status": "known", "needs": []})[0] == Known()
    assert analysed(INQUIRY, {"status": "stuck", "reason": "There was no tower."})[0] == Stuck("There was no tower.")


def test_the_prompt_holds_where_the_loop_stands() -> None:
    _, [user] = analysed(INQUIRY, {"status": "known"})
    assert "How old was the architect?" in user
    assert "How old was Oda Brenk?" in user
    assert "[1] Oda Brenk designed it." in user
    assert "[2] It was finished in 1911." in user
    assert "Who designed Velm Tower? -> [1][2]" in user


def test_what_could_not_be_read_is_not_told_as_missing() -> None:
    inquiry = replace(EMPTY, tried=(TRIED, Need("Who paid?")), unread=frozenset({TRIED.key}))
    _, [user] = analysed(inquiry, needing("Who else designed it?"))
    assert "- Who designed Velm Tower? -> its texts could not be read\n- Who paid? -> nothing found" in user


def test_two_things_that_one_quote_says_are_both_shown() -> None:
    built = replace(FINISHED, statement="It took four years.", value="", need=Need(INQUIRY.original))
    facts = (replace(FINISHED, value=""), built, replace(built, need=TRIED))
    _, [user] = analysed(replace(INQUIRY, facts=facts), {"status": "known"})
    assert '[1] It was finished in 1911. (Velm Tower: "It was finished in 1911.")' in user
    assert user.count("[2] It took four years.") == user.count("It took four years.") == 1


@pytest.mark.parametrize(
    ("inquiry", "replies", "complaint", "analysis"),
    [
        (EMPTY, [{"status": "known"}] * 2, "no facts yet", Needs((Need(EMPTY.question),))),
        (EMPTY, [needing(), needing("Who?")], "names no question", Needs((Need("Who?"),))),
        (BARREN, [needing("who designed velm tower"), {"status": "known"}], "tried already", Known()),
    ],
)
def test_an_analysis_that_leads_nowhere_is_complained_about(
    inquiry: Inquiry, replies: list[Any], complaint: str, analysis: Analysis
) -> None:
    made, users = analysed(inquiry, *replies)
    assert made == analysis
    assert complaint in users[1]


def test_what_follows_from_the_needs_is_told_with_them() -> None:
    later = ['When was #1 born? (see "#1")', "When was #2 finished?"]
    analysis, _ = analysed(EMPTY, {**needing("Who designed Velm Tower?"), "then": later, "last": True})
    assert analysis == Needs((TRIED,), last=True, then=(Need("When was #1 born?", "#1"), Need("When was #2 finished?")))


def test_what_has_its_value_is_not_looked_up_again() -> None:
    assert analysed(INQUIRY, needing("who designed velm tower"))[0] == Known()


# --- rephrasing ----------------------------------------------------------------------------------


def test_rephrasing_is_told_all_and_gives_the_question() -> None:
    inquiry = replace(INQUIRY, facts=(DESIGNER,))
    question, [user] = rephrased(inquiry, [FINISHED], {"question": "How old was\nOda Brenk in 1911?"})
    assert question == "How old was Oda Brenk in 1911?"
    assert INQUIRY.original in user
    assert INQUIRY.question in user
    assert "[1] Oda Brenk designed it." in user
    assert "[2] It was finished in 1911." in user
    assert "NEW FACTS: [2]\n" in user


def test_nothing_found_rephrases_nothing_and_costs_nothing() -> None:
    assert rephrased(INQUIRY, []) == (INQUIRY.question, [])


# --- both in one call ----------------------------------------------------------------------------

QUESTION = "How old was Oda Brenk in 1911?"
BORN = "When was Oda Brenk born?"
BOTH: dict[str, Any] = {"reason": "Found.", "question": QUESTION, "status": "needs", "needs": [BORN], "last": True}
WHOLE = Continuation(QUESTION, Needs((Need(BORN),), last=True))


def proceeded(*replies: Any, inquiry: Inquiry = INQUIRY) -> tuple[Continuation, list[str]]:
    with ScriptedLLM({"rephrase_and_analyse": list(replies)}) as llm:
        joint = roles(llm).joint_analyst
        assert joint is not None
        return joint.proceed(inquiry, [FINISHED]), [request.user for request in llm.requests]


def test_one_reply_holds_the_question_and_its_analysis() -> None:
    made, [user] = proceeded(BOTH)
    assert made == WHOLE
    assert "ORIGINAL QUESTION: How old was the architect?" in user
    assert "CURRENT QUESTION: How old was Oda Brenk?" in user
    assert "[2] It was finished in 1911." in user
    assert "NEW FACTS: [2]\n" in user
    assert "Who designed Velm Tower? -> [1][2]" in user


@pytest.mark.parametrize(
    "replies",
    [
        [f"```json\n{json.dumps(BOTH)}\n```"],
        [f"Sure! The new question is [1]:\n{json.dumps(BOTH, indent=1)}\nAnything else?"],
        [f"<think>known?</think>{json.dumps(BOTH)}"],
        [f"[{json.dumps(BOTH)}]"],
        [str(BOTH)],
        [{**BOTH, "status": "Needs.", "needs": BORN, "last": "yes"}],
        [{**BOTH, "needs": [{"question": BORN}]}],
        [{key: value for key, value in BOTH.items() if key != "status"}],
        ["no", "no", BOTH],
        [{**BOTH, "needs": ["who designed velm tower", BORN]}],
    ],
)
def test_both_are_read_as_models_write_them(replies: list[Any]) -> None:
    assert proceeded(*replies)[0] == WHOLE


@pytest.mark.parametrize(
    ("reply", "made"),
    [
        ({"question": QUESTION}, Continuation(QUESTION)),
        ({**BOTH, "status": "unclear"}, Continuation(QUESTION)),
        ({**BOTH, "status": None}, Continuation(QUESTION)),
        ({**BOTH, "question": None}, Continuation(None, WHOLE.analysis)),
        ({"status": "known"}, Continuation(INQUIRY.question, Known())),
        ({"question": QUESTION, "status": "stuck", "reason": "No tower."}, Continuation(QUESTION, Stuck("No tower."))),
    ],
)
def test_a_half_that_is_missing_stays_open(reply: dict[str, Any], made: Continuation) -> None:
    assert proceeded(reply)[0] == made


@pytest.mark.parametrize("text", ["", "I cannot do that.", '{"question": "How old', '{"reason": "x"}'])
def test_a_reply_with_neither_half_is_told_so_and_then_fails(text: str) -> None:
    with pytest.raises(ReplyUnreadable):
        proceeded(text, text, text)


# --- the answer with the analysis ----------------------------------------------------------------

WRITTEN = {"working": "Born 1874 [1]. 1911 - 1874 = 37.", "answer": "She was 37 in 1911 [2].", "short_answer": "37"}
GERMAN = "Wie alt war die Architektin, als der Turm fertig wurde?"


def draft_with(inquiry: Inquiry = INQUIRY, **fields: Any) -> Draft | None:
    reply = {"question": QUESTION, "status": "known", "answer": WRITTEN, **fields}
    return proceeded(reply, inquiry=inquiry)[0].draft


def test_a_question_that_is_known_comes_with_its_answer() -> None:
    draft = draft_with(answer={**WRITTEN, "also": ["36, by the plans [1]"], "confidence": 0.8})
    assert draft is not None
    assert (draft.answered, draft.short_answer, draft.confidence) == (True, "37", 0.8)
    assert (draft.text, draft.also, draft.cited) == ("She was 37 in 1911 [1].", ("36, by the plans [2]",), (1, 0))


@pytest.mark.parametrize(
    "fields",
    [
        *({"answer": written} for written in (None, "37")),
        *({"answer": {**WRITTEN, "answer": said}} for said in ("She was 37.", "She was 37 [7].")),
        {"answer": {**WRITTEN, "short_answer": ""}},
        {"answer": {**WRITTEN, "working": "1911 - 1874 = 36."}},
        {"status": "needs", "needs": [BORN]},
        {"status": "stuck", "reason": "No tower."},
        {"inquiry": replace(INQUIRY, form=AnswerForm.EXPLANATION)},
        {"inquiry": replace(INQUIRY, original=GERMAN)},
    ],
)
def test_what_another_role_has_to_write_or_to_look_for_is_no_answer_yet(fields: dict[str, Any]) -> None:
    assert draft_with(**fields) is None
