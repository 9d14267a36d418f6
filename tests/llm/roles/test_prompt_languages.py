"""The language that an answer is written in, and look-ups in both languages where the corpus is in another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import MemoryCorpus
from fakes.scripted_llm import Scripted, ScriptedLLM
from iterative_rag import IterativeRAG
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.roles.role_call import PromptLanguages
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.types import AgentView, Document, Fact, Inquiry, Need, Status
from tests.llm.inquiries import INQUIRY, answer, roles

ENGLISH, GERMAN = "Who is the mayor of Aldermere?", "Wer ist die Bürgermeisterin von Aldermere?"
QUOTE = "Die Bürgermeisterin von Aldermere ist Edda Holm."
TOWNS = {
    "Aldermere": f"Aldermere ist eine kleine Stadt im Westen des Landes. {QUOTE} Der Fluss ist breit.",
    "Fenwick": "Fenwick ist eine Stadt am Meer. Der Hafen der Stadt ist alt, und die Schiffe sind aus Holz.",
}
MAYORS = {"Aldermere": "Aldermere is a small town in the west of the country. The mayor of Aldermere is Edda Holm."}
TOLD = "LANGUAGES: The question is in English, articles are in German."


def plan(request: ChatRequest) -> Scripted:
    return {"form": "value", "status": "needs", "needs": [f"{ENGLISH} / {GERMAN}"], "last": True}


def extraction(request: ChatRequest) -> Scripted:
    fact = {"statement": QUOTE, "quote": QUOTE, "need": [1], "value": "Edda Holm"}
    return {"facts": [fact] if QUOTE in request.user else []}


def asked(texts: Mapping[str, str], question: str, corpus: str = "towns", **settings: Any) -> tuple[Any, ScriptedLLM]:
    documents = [Document(title, title, text, f"{title}.md") for title, text in texts.items()]
    IterativeRAG.index(documents, corpus=corpus, embed_model=HashingEmbedder())
    answer = {"status": "answered", "answer": "Edda Holm [1].", "short_answer": "Edda Holm", "confidence": 0.9}
    llm = ScriptedLLM({"analyse": plan, "extract": extraction, "answer": lambda request: answer})
    chosen = {"llm": llm, "corpus": corpus, "embed_model": HashingEmbedder(), "cache": False, **settings}
    with closing(IterativeRAG.from_settings(**chosen)) as rag:
        return rag.ask(question), llm


def test_a_plan_over_articles_in_another_language_is_asked_for_look_ups_in_both() -> None:
    answer, llm = asked(TOWNS, ENGLISH)
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, "Edda Holm")
    assert TOLD in llm.asked("analyse")[0].user
    assert 'in English and, behind " / ", once more in German' in llm.asked("analyse")[0].user
    assert "LANGUAGES" not in llm.asked("answer")[0].user, "the answer stays in the language of the question"


@pytest.mark.parametrize(("texts", "question"), [(TOWNS, GERMAN), (MAYORS, ENGLISH)])
def test_a_corpus_in_the_language_of_the_question_changes_no_prompt(texts: Mapping[str, str], question: str) -> None:
    _, llm = asked(texts, question)
    (request, *_) = llm.asked("analyse")
    assert request.user.endswith("TRIED ALREADY:\n(nothing yet)")


def test_other_languages_are_named_once_a_look_up_in_that_of_the_question_found_nothing() -> None:
    languages, need = PromptLanguages(corpus={"en": 80, "de": 20}), Need(ENGLISH)
    fact = Fact("s", "q", "Edda Holm", "a", "Aldermere", "a.md", 0, 1, need, 1.0)
    assert languages.for_needs(Inquiry(ENGLISH, ENGLISH, (fact,), tried=(need,))) == ""
    assert "articles are in German." in languages.for_needs(Inquiry(ENGLISH, ENGLISH, (), tried=(need,)))
    assert "in German" in languages.for_searches(ENGLISH)


def test_every_role_that_writes_look_ups_or_searches_is_told() -> None:
    question = "Wie alt war der Architekt, als der Turm von Velm in der Stadt gebaut wurde?"
    replies: dict[str, Scripted] = {
        "analyse": {"status": "stuck", "reason": "x"},
        "rephrase_and_analyse": {"question": question, "status": "known"},
        "plan": {"done": True, "steps": []},
        "outline": {"sections": [{"heading": "A", "questions": [question]}]},
        "reword": {"phrasings": ["tower architect"], "broader": "", "passage": ""},
    }
    llm = ScriptedLLM({role: [reply] for role, reply in replies.items()})
    inquiry = replace(INQUIRY, original=question, question=question)
    played = LLMBackend(llm, None, None, Settings()).roles(CountingBudget(), MemoryCorpus({}, {"en": 4}))
    assert played.joint_analyst is not None
    assert played.planner is not None
    assert played.outliner is not None
    played.analyst.analyse(inquiry)
    played.joint_analyst.proceed(inquiry, inquiry.facts[:1])
    played.planner.plan(inquiry)
    played.outliner.outline(inquiry)
    played.rewriter.reword(replace(inquiry.tried[0], question=question), ())
    assert [role for role in replies if "articles are in English" in llm.asked(role)[0].user] == list(replies)
    assert "Write the searches and the passage in English" in llm.asked("reword")[0].user


# --- the language of the answer ---------------------------------------------------------------------

HOW_OLD = "Wie alt war der Architekt, als der Turm fertig wurde?"
NAMED = re.compile(r'^Write "answer".* in (\w+|the language of the original question)\. Copy names', re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "settings", "named"),
    [
        (INQUIRY.original, {}, []),
        (INQUIRY.original, {"answer_language": "en"}, []),
        (INQUIRY.original, {"answer_language": "de"}, ["German"]),
        (HOW_OLD, {}, ["German"]),
        (HOW_OLD, {"answer_language": "tr"}, ["Turkish"]),
        (HOW_OLD, {"answer_language": "en"}, ["English"]),
        (HOW_OLD, {"language": "en"}, []),
        ("Velm Tower Architekt", {}, ["the language of the original question"]),
    ],
)
def test_the_prompt_names_the_language_where_it_is_not_english(
    question: str, settings: dict[str, Any], named: list[str]
) -> None:
    submit = {"thought": "", "calls": [{"tool": "submit", "answer": "37 [1]", "short_answer": "37"}]}
    with ScriptedLLM({"answer": [answer(answer="37 [2].")], "agent": [submit]}) as llm:
        played = roles(llm, **settings)
        played.answerer.answer(replace(INQUIRY, original=question))
        assert played.agent
        played.agent.act(AgentView(question))
    assert [NAMED.findall(request.user) for request in llm.requests] == [named, named]
