"""What the prompts of answers say about the language to write in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import AgentView
from tests.llm.inquiries import INQUIRY, answer, roles

GERMAN = "Wie alt war der Architekt, als der Turm fertig wurde?"
NAMED = re.compile(r'^Write "answer".* in (\w+|the language of the original question)\. Copy names', re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "settings", "named"),
    [
        (INQUIRY.original, {}, []),
        (INQUIRY.original, {"answer_language": "en"}, []),
        (INQUIRY.original, {"answer_language": "de"}, ["German"]),
        (GERMAN, {}, ["German"]),
        (GERMAN, {"answer_language": "tr"}, ["Turkish"]),
        (GERMAN, {"answer_language": "en"}, ["English"]),
        (GERMAN, {"language": "en"}, []),
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


def test_an_abstention_is_in_the_words_of_the_model() -> None:
    missing = "Wann der Turm fertig wurde, steht in keinem Text."
    reply = {"status": "not_in_facts", "answer": "", "short_answer": "", "missing": missing, "confidence": 0.2}
    with ScriptedLLM({"answer": [reply]}) as llm:
        draft = roles(llm).answerer.answer(replace(INQUIRY, original=GERMAN))
    assert (draft.answered, draft.missing) == (False, missing)
