"""A conversation with a model: what it costs, what it remembers, and that its citations stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.in_memory import MemoryCorpus
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.app.conversations import ConversationSession, ConversationStore
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import FollowUpUnclear
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache
from iterative_rag.types import FinalStep, FollowUpStep, Status

QUOTE = "Velm Tower was designed in 1911 by Oda Brenk and is 120 m tall."
TEXTS = {"Velm Tower": f"{QUOTE} It stands in Orm.", "Oda Brenk": "Oda Brenk was born in Tarn."}
FIRST = "Who designed Velm Tower?"


def finding(question: str, quote: str, value: str) -> dict[str, list[Any]]:
    """The replies of a run that looks one thing up."""
    return {
        "analyse": [{"status": "needs", "needs": [question], "last": True}],
        "extract": [{"facts": [{"statement": quote, "quote": quote, "need": 1, "value": value}]}],
        "answer": [{"status": "answered", "answer": f"{quote} [1]", "short_answer": value, "confidence": 0.95}],
    }


def scripted(*runs: dict[str, list[Any]]) -> ScriptedLLM:
    roles = dict.fromkeys(role for run in runs for role in run)
    return ScriptedLLM({role: [reply for run in runs for reply in run.get(role, [])] for role in roles})


def session(llm: ScriptedLLM, store: ConversationStore | None = None, **texts: str) -> ConversationSession:
    settings = Settings(llm="scripted", shortlist=1, retries=0, cache=False)
    corpus = MemoryCorpus({**TEXTS, **{name.replace("_", " "): text for name, text in texts.items()}})
    backend = LLMBackend(llm, None, None, settings)
    return ConversationSession(IterativeRAG(settings, corpus=corpus, backend=backend, cache=NoCache()), store=store)


def reply(status: str, question: str, answer: str = "", short: str = "", **more: Any) -> dict[str, Any]:
    said = {"question": question, "status": status, "answer": answer, "short_answer": short, "confidence": 0.95}
    return said | more


WHEN = reply("answered", "When was Velm Tower designed?", "Velm Tower was designed in 1911 [1].", "1911")
DESIGNED = finding(FIRST, QUOTE, "Oda Brenk")
BORN = finding("Where was Oda Brenk born?", TEXTS["Oda Brenk"], "Tarn")


def test_a_follow_up_that_the_cited_facts_answer_costs_one_call(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations")
    with scripted(DESIGNED, {"follow_up": [WHEN]}) as llm:
        talk = session(llm, store)
        first = talk.ask(FIRST)
        steps = list(talk.steps("and when?"))
    assert FollowUpStep("and when?", "When was Velm Tower designed?", known=True) in steps
    last = steps[-1]
    assert isinstance(last, FinalStep)
    assert (last.answer.status, last.answer.short_answer, last.answer.usage.llm_calls) == (Status.ANSWERED, "1911", 1)
    assert last.answer.citations == first.citations
    assert [turn.facts for turn in store.load("last").turns] == [talk.turns[0].facts] * 2


def test_an_answer_that_the_facts_do_not_hold_is_looked_up() -> None:
    made_up = reply("answered", "Where was Oda Brenk born?", "Oda Brenk was born in Lisbon [1].", "Lisbon")
    with scripted(
        DESIGNED, {"follow_up": [made_up]}, finding("Where was Oda Brenk born?", TEXTS["Oda Brenk"], "Tarn")
    ) as llm:
        talk = session(llm)
        talk.ask(FIRST)
        answer = talk.ask("where was she born?")
    assert (answer.short_answer, [one.quote for one in answer.citations]) == ("Tarn", [TEXTS["Oda Brenk"]])


@pytest.mark.parametrize(
    "doubtful",
    [
        reply("search", WHEN["question"]),
        WHEN | {"confidence": 0.3},
        WHEN | {"answer": "It was long ago.", "short_answer": ""},
    ],
    ids=["says so", "unsure", "cites nothing"],
)
def test_what_is_doubtful_is_looked_up(doubtful: dict[str, Any]) -> None:
    told_once = [doubtful] * (2 if "long ago" in doubtful["answer"] else 1)
    with scripted(DESIGNED, {"follow_up": told_once}, finding("When was Velm Tower designed?", QUOTE, "1911")) as llm:
        talk = session(llm)
        talk.ask(FIRST)
        answer = talk.ask("and when?")
    assert (answer.question, answer.short_answer) == ("When was Velm Tower designed?", "1911")


def test_a_follow_up_that_one_look_up_answers_costs_no_analysis() -> None:
    """Understanding it takes the place of the analysis."""
    asked = reply("search", "Where was Oda Brenk born?", single=True)
    with scripted(DESIGNED, {"follow_up": [asked], "extract": BORN["extract"], "answer": BORN["answer"]}) as llm:
        talk = session(llm)
        talk.ask(FIRST)
        answer = talk.ask("where was she born?")
    assert (answer.short_answer, answer.usage.llm_calls) == ("Tarn", 3)
    assert [one.quote for one in answer.citations] == [TEXTS["Oda Brenk"]]


def test_what_is_unclear_is_asked_about_and_not_remembered() -> None:
    unclear = reply("unclear", "", unclear="Two towers were spoken of")
    with scripted(DESIGNED, {"follow_up": [unclear]}) as llm:
        talk = session(llm)
        talk.ask(FIRST)
        with pytest.raises(FollowUpUnclear, match="Two towers were spoken of") as raised:
            talk.ask("and the other one?")
    assert "--as" in raised.value.hint
    assert len(talk.turns) == 1


def test_a_quote_that_no_longer_stands_answers_nothing() -> None:
    asked = reply("search", "When was Velm Tower designed?")
    stuck = {"status": "stuck", "reason": "nothing tells"}
    with scripted(DESIGNED, {"follow_up": [asked], "analyse": [stuck]}) as llm:
        talk = session(llm)
        talk.ask(FIRST)
        talk.rag = session(llm, Velm_Tower="Velm Tower is a tower.").rag
        assert talk.ask("and when?").status is Status.ABSTAINED
    assert "FACTS:\n(none yet)" in llm.asked("follow_up")[0].user


def test_another_unit_costs_no_call() -> None:
    with scripted(finding("How tall is Velm Tower?", QUOTE, "120 m")) as llm:
        talk = session(llm)
        talk.ask("How tall is Velm Tower?")
        answer = talk.ask("and in feet?")
    assert answer.question == "How tall is Velm Tower in feet?"
    assert (answer.short_answer, answer.usage.llm_calls) == ("393.7 feet", 0)
    assert [one.quote for one in answer.citations] == [QUOTE]
