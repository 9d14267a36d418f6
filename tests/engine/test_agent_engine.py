"""The strategy `agent`, through the package's door: a model that drives with tools, and how its replies go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes import two_article_corpus
from iterative_rag import IterativeRAG, Settings
from iterative_rag.errors import UsageError
from iterative_rag.factory import index_paths
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.trace import event_name
from iterative_rag.types import Answer, Cap, FinalStep, ReadingStep, Status, Step

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
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    two_article_corpus.write_articles(tmp_path / "articles")
    index_paths([tmp_path / "articles"], settings=Settings(corpus="towns"), corpus="towns")
    return Settings(corpus="towns", cache=False, strategy="agent")


def turn(*calls: Mapping[str, Any]) -> dict[str, Any]:
    return {"thought": "so be it", "calls": list(calls)}


def run(settings: Settings, replies: Sequence[Any], **others: Sequence[Any]) -> tuple[list[Step], ScriptedLLM]:
    """The steps of one run, in which the agent replies so; all replies are used."""
    with ScriptedLLM({"agent": replies, **others}) as llm:
        rag = IterativeRAG.from_settings(settings, llm=llm)
        steps = list(rag.steps(QUESTION))
        rag.close()
    return steps, llm


def outcome(steps: Sequence[Step]) -> Answer:
    assert isinstance(steps[-1], FinalStep)
    return steps[-1].answer


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


def test_a_claim_that_no_quote_proves_is_refused(settings: Settings) -> None:
    invented = {
        **SUBMIT,
        "answer": "The mayor is Otto Brandt [1].",
        "short_answer": "Otto Brandt",
        "quotes": [MAYOR_QUOTE],
    }
    again = {"status": "answered", "answer": "The mayor is Otto Brandt [1].", "short_answer": "Otto Brandt"}
    steps, llm = run(settings, [turn(SEARCH), turn(invented)], answer=[again, again])
    answer = outcome(steps)
    assert answer.status is Status.ABSTAINED
    assert "Otto Brandt" in answer.reason
    assert answer.short_answer == ""
    assert "claimed what the facts do not prove" in llm.asked("answer")[0].user


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
    assert MAYOR in told.partition("RESULTS:")[2]  # what the article says instead


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
