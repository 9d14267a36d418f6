"""The strategy `agent`, through the package's door: a model that drives with tools, and how its replies go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fakes import two_article_corpus
from fakes.llm_loop import outcome
from fakes.scripted_llm import ScriptedLLM
from iterative_rag import AnswerForm, IterativeRAG, Settings
from iterative_rag.errors import LLMUnreachable, UsageError
from iterative_rag.storage.trace import event_name
from iterative_rag.types import Cap, ReadingStep, Status, Step

QUESTION = two_article_corpus.QUESTION
BRIDGE, MAYOR = two_article_corpus.FACTS
BRIDGE_QUOTE = {
    "title": "Sunday bridge",
    "quote": BRIDGE,
    "question": "In which town does the Sunday bridge stand?",
    "value": "Aldermere",
}
MAYOR_QUOTE = {"title": "Aldermere", "quote": MAYOR, "question": "Who is the mayor of Aldermere?", "value": "Edda Holm"}
SEARCH = {"tool": "search", "queries": ["Where does the Sunday bridge stand?", "Sunday bridge"]}
NOTE = {"tool": "note", "quotes": [BRIDGE_QUOTE]}
READ = {"tool": "read_section", "title": "Aldermere", "heading": ""}
SUBMIT = {
    "tool": "submit",
    "answer": "The Sunday bridge stands in Aldermere [1]. The mayor of Aldermere is Edda Holm [2].",
    "short_answer": "Edda Holm",
    "quotes": [MAYOR_QUOTE],
    "confidence": 0.9,
}


@pytest.fixture
def settings(towns: Settings) -> Settings:
    return towns.model_copy(update={"strategy": "agent"})


def turn(*calls: Mapping[str, Any]) -> dict[str, Any]:
    return {"thought": "so be it", "calls": list(calls)}


def run(settings: Settings, replies: Sequence[Any], **others: Sequence[Any]) -> tuple[list[Step], ScriptedLLM]:
    """The steps of one run, in which the agent replies so; all replies are used."""
    with ScriptedLLM({"agent": replies, **others}) as llm:
        rag = IterativeRAG.from_settings(settings, llm=llm)
        steps = list(rag.steps(QUESTION))
        rag.close()
    return steps, llm


def course(steps: Sequence[Step]) -> list[str]:
    return [event_name(type(step)) for step in steps]


def test_it_searches_reads_notes_and_submits_with_quotes(settings: Settings) -> None:
    steps, llm = run(settings, [turn(SEARCH), turn(NOTE, READ), turn(SUBMIT)])
    answer = outcome(steps)
    assert (answer.status, answer.short_answer, answer.usage.llm_calls) == (Status.ANSWERED, "Edda Holm", 3)
    assert [citation.quote for citation in answer.citations] == [BRIDGE, MAYOR]
    assert answer.text.endswith("Edda Holm [2].")
    assert course(steps) == ["shortlist", "shortlist", "tool", "reading", "reading", "answering", "final"]
    first, second, third = (request.user for request in llm.requests)
    assert BRIDGE not in first
    assert BRIDGE in second.partition("RESULTS:")[2]
    # What was noted is a fact; what was seen is not sent again.
    assert f'Sunday bridge: "{BRIDGE}"' in third.partition("EARLIER CALLS:")[0]
    assert BRIDGE not in third.partition("EARLIER CALLS:")[2]


def test_the_built_in_backend_cannot_follow_it(settings: Settings) -> None:
    rag = IterativeRAG.from_settings(settings, llm="builtin")
    with pytest.raises(UsageError, match="cannot use tools") as caught:
        rag.ask(QUESTION)
    rag.close()
    assert "--llm" in caught.value.hint


def test_a_claim_that_no_quote_proves_is_told_once_and_then_refused(settings: Settings) -> None:
    invented = {**SUBMIT, "answer": "The mayor is Otto Brandt [1].", "short_answer": "Otto Brandt"}
    steps, llm = run(settings, [turn(SEARCH), turn(invented), turn(invented)])
    answer = outcome(steps)
    assert answer.status is Status.ABSTAINED
    assert "Otto Brandt" in answer.reason
    assert answer.short_answer == ""
    told = llm.asked("agent")[2].user.partition("RESULTS:")[2]
    assert "name what no quote says" in told
    assert "The mayor is Otto Brandt (stands in no fact: 'Otto Brandt')" in told
    assert not llm.asked("answer")


def test_a_paraphrased_quote_is_told_once_and_then_refused(settings: Settings) -> None:
    loose = {
        **SUBMIT,
        "answer": "The mayor is Edda Holm [1].",
        "quotes": [{**MAYOR_QUOTE, "quote": "Edda Holm is its mayor now."}],
    }
    steps, llm = run(settings, [turn(SEARCH), turn(loose), turn(loose)])
    answer = outcome(steps)
    assert (answer.status, answer.reason) == (Status.ABSTAINED, "No quote from the corpus proves an answer.")
    assert sum(step.dropped for step in steps if isinstance(step, ReadingStep)) == 2
    told = llm.requests[-1].user
    assert "stand in no article word for word" in told
    assert "Edda Holm is its mayor now." in told.partition("RESULTS:")[2]


def test_at_the_last_turn_only_submit_is_left(settings: Settings) -> None:
    steps, llm = run(settings.model_copy(update={"max_hops": 2}), [turn(SEARCH), turn(NOTE, SUBMIT)])
    assert outcome(steps).status is Status.ANSWERED
    assert [spec.name for spec in llm.requests[1].functions] == ["submit"]
    assert "Submit now" in llm.requests[1].user
    assert "Submit now" not in llm.requests[0].user


def test_who_does_not_submit_is_answered_from_the_facts_noted(settings: Settings) -> None:
    written = {"status": "answered", "answer": "It stands in Aldermere [1].", "short_answer": "Aldermere"}
    few = settings.model_copy(update={"max_hops": 2})
    steps, _ = run(few, [turn(SEARCH), turn(NOTE, READ)], answer=[written])
    answer = outcome(steps)
    assert (answer.status, answer.cap) == (Status.INCOMPLETE, Cap.HOPS)
    assert answer.short_answer == "Aldermere"


# --- answers that are inferred ---------------------------------------------------------------

AGED = {"title": "Sunday bridge", "quote": "| Opened | 1310 |", "question": "When did it open?", "value": "1310"}
INFERRED = {
    "tool": "submit",
    "answer": "The Sunday bridge opened in 1310 [1], so it is about 700 years old [1].",
    "short_answer": "about 700 years",
    "quotes": [AGED],
    "inferred": True,
    "confidence": 0.95,
}


def test_an_inferred_answer_is_given_as_a_weak_one(settings: Settings) -> None:
    answer = outcome(run(settings, [turn(SEARCH), turn(INFERRED)])[0])
    assert (answer.status, answer.short_answer, answer.confidence) == (Status.ANSWERED, "about 700 years", 0.6)
    assert answer.caveats == ("The answer is inferred from the quotes; none of them says it.",)
    assert [citation.quote for citation in answer.citations] == ["| Opened | 1310 |"]


def test_a_value_that_stands_in_no_quote_is_none_until_it_is_marked_as_inferred(settings: Settings) -> None:
    certain = {**INFERRED, "inferred": False}
    steps, llm = run(settings, [turn(SEARCH), turn(certain), turn(INFERRED)])
    assert 'set "inferred" to true' in llm.requests[2].user
    assert (outcome(steps).short_answer, outcome(steps).confidence) == ("about 700 years", 0.6)
    unmarked = outcome(run(settings, [turn(SEARCH), turn(certain), turn(certain)])[0])
    assert unmarked.status is Status.ABSTAINED


@pytest.mark.parametrize(
    "submitted",
    [
        {**INFERRED, "answer": "Its mayor is Otto Brandt [1].", "short_answer": "Otto Brandt"},
        {**INFERRED, "answer": "It opened in 1310 [1] and fell in 1788 [1]."},
        {**INFERRED, "quotes": [{**AGED, "quote": "It is about 700 years old."}]},
        {**INFERRED, "quotes": []},
    ],
    ids=["another name", "another value", "refused quote", "no quote"],
)
def test_nothing_but_its_own_value_may_be_inferred(settings: Settings, submitted: Mapping[str, Any]) -> None:
    steps, llm = run(settings, [turn(SEARCH), turn(submitted), turn(submitted)])
    assert outcome(steps).status is Status.ABSTAINED
    assert "submit: refused:" in llm.requests[2].user


# --- replies as real models give them --------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "search", "arguments": {"queries": "Sunday bridge"}} {"name": "find_in_article", "arguments": '
        '{"title": "Aldermere", "words": "mayor"}}',
        '<tool_call>{"name": "search", "parameters": {"queries": "Sunday bridge"}}</tool_call>',
        '{"calls": [{"tool": "search", "queries": ["Sunday bridge"]}, {"tool": "read_sec',
        [{"function": {"name": "search", "arguments": '{"queries": ["Sunday bridge"]}'}}],
    ],
    ids=["two objects", "tags", "cut off", "nested"],
)
def test_calls_are_read_however_they_are_written(settings: Settings, reply: Any) -> None:
    steps, _ = run(settings, [reply, turn(NOTE, SUBMIT)])
    assert outcome(steps).short_answer == "Edda Holm"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"tool": "browse", "url": "http://example.org"}, "there is no tool 'browse'; the tools are search,"),
        ({"tool": "find_in_article", "title": "Aldermere", "colour": "red"}, "it needs 'words'"),
        ({"tool": "search", "queries": {"a": {"b": 1}}}, "the field 'queries.0' is wrong"),
        ({"tool": "search", "arguments": '{"queries": ["Sun'}, "its arguments are not a valid JSON object"),
        ({"tool": "calculate", "expression": "__import__('os')"}, "refused:"),
        ({"tool": "read_section", "title": "Aldermeer"}, "there is no article of that title; these come near"),
        ({"tool": "list_rows", "title": "Aldermere", "filter": "lighthouse"}, "none of 2 rows holds all these words"),
        ({"tool": "find_in_article", "title": "Aldermere", "words": "lighthouse"}, "does not hold these words"),
    ],
    ids=["tool", "argument", "type", "broken arguments", "expression", "title", "filter", "words"],
)
def test_a_call_that_goes_wrong_is_told_and_spoils_no_other(
    settings: Settings, call: Mapping[str, Any], told: str
) -> None:
    steps, llm = run(settings, [turn(call, SEARCH), turn(NOTE, SUBMIT)])
    assert told in llm.requests[1].user
    assert outcome(steps).status is Status.ANSWERED


def test_tools_show_places_rows_and_results(settings: Settings) -> None:
    tools: list[Mapping[str, Any]] = [
        {"tool": "find_in_article", "title": "aldermere", "words": "mayors"},
        {"tool": "list_rows", "title": "Sunday bridge", "table": "1", "filter": "opened"},
        {"tool": "calculate", "expression": "1950 - 1310", "facts": [1]},
    ]
    steps, llm = run(settings, [turn(NOTE, *tools), turn(SEARCH), turn(SUBMIT)])
    seen = llm.requests[1].user
    assert MAYOR in seen
    assert "| Opened | 1310 |" in seen
    assert "| Town | Aldermere |" not in seen.partition("| Opened | 1310 |")[2]
    assert "1950 − 1310 = 640" in seen
    assert "no fact that you named holds 1950 or 1310" in seen
    assert course(steps)[:3] == ["tool", "tool", "tool"]
    assert [one.result for one in outcome(steps).computations] == ["640"]


# --- the end ---------------------------------------------------------------------------------


def test_giving_up_at_once_is_refused_once(settings: Settings) -> None:
    nothing = {"tool": "submit", "answer": "", "short_answer": "", "missing": "who the mayor is"}
    steps, llm = run(settings, [turn(nothing), turn(SEARCH, nothing)])
    answer = outcome(steps)
    assert (answer.status, answer.reason) == (Status.ABSTAINED, "who the mayor is")
    assert "before giving up" in llm.requests[1].user


@pytest.mark.parametrize("limit", ["max_calls", "max_tokens"])
def test_a_limit_of_the_run_leaves_only_submit(settings: Settings, limit: str) -> None:
    bound = {"max_calls": 3, "max_tokens": 5_000}[limit]
    steps, llm = run(settings.model_copy(update={limit: bound}), [turn(SEARCH), turn(NOTE, SUBMIT)])
    assert [len(request.functions) > 1 for request in llm.requests] == [True, False]
    assert outcome(steps).status is Status.ANSWERED


def test_a_failing_server_keeps_what_was_noted(settings: Settings) -> None:
    down = LLMUnreachable("No server answers.", hint="ollama serve")
    steps, _ = run(settings, [turn(SEARCH), turn(NOTE, READ), down])
    answer = outcome(steps)
    assert answer.status is Status.INCOMPLETE
    assert answer.text.startswith("Found so far: The Sunday bridge is a stone bridge in Aldermere.")


# --- texts, which are written from the quotes that were noted ------------------------------------

WHY = "Why is Edda Holm of interest to the Sunday bridge?"
REASON = {"tool": "submit", "answer": "She is its mayor [1][2].", "short_answer": "mayor", "confidence": 0.9}
TEXT = "The Sunday bridge is a stone bridge in Aldermere [1]. The mayor of Aldermere is Edda Holm [2]."


def test_an_agent_that_answers_a_why_has_the_text_written_from_its_notes(settings: Settings) -> None:
    search = turn({"tool": "search", "queries": ["Sunday bridge", "mayor of Aldermere"]})
    replies = [search, turn({"tool": "note", "quotes": [BRIDGE_QUOTE, MAYOR_QUOTE]}), turn(REASON)]
    write = [{"status": "answered", "answer": TEXT, "confidence": 0.9}]
    with ScriptedLLM({"agent": replies, "write": write}) as llm, IterativeRAG.from_settings(settings, llm=llm) as rag:
        answer = rag.ask(WHY)
    assert (answer.status, answer.form, answer.short_answer) == (Status.ANSWERED, AnswerForm.EXPLANATION, "")
    assert answer.text == TEXT
