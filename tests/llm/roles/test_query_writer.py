"""What is searched with: other words for a need, a query for the web, and the questions that find a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.in_memory import DictCache
from iterative_rag.llm.providers.scripted import Scripted, ScriptedLLM
from iterative_rag.llm.replies.forms import QuestionsReply
from iterative_rag.llm.roles.query_writer import LONGEST_QUESTION, LLMQuestionWriter
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.protocols import Cache
from iterative_rag.types import Need, Passage, Rewording
from tests.llm.inquiries import roles

NEED = Need("Who designed Velm Tower?")

FULL = {
    "phrasings": ["Velm Tower architect", "plans for Velm Tower"],
    "broader": "Velm Tower",
    "passage": "It was built.",
}


def reworded(*replies: Any, tried: Sequence[str] = ()) -> Rewording:
    with ScriptedLLM({"reword": list(replies)}) as llm:
        return roles(llm).rewriter.reword(NEED, tried)


@pytest.mark.parametrize(
    "reply",
    [
        FULL,
        f"Here you are:\n```json\n{FULL}\n```",
        {**FULL, "phrasings": [{"query": "Velm Tower architect"}, {"query": "plans for Velm Tower"}, ""]},
        {
            **FULL,
            "phrasings": ["Velm Tower\narchitect", "velm tower architect!", "plans for Velm Tower", NEED.question],
        },
    ],
)
def test_rewordings_are_read_from_what_models_write(reply: Any) -> None:
    assert reworded(reply) == Rewording(("Velm Tower architect", "plans for Velm Tower"), "Velm Tower", "It was built.")


def test_a_model_that_repeats_itself_is_told_once() -> None:
    same = {"phrasings": ["who designed velm tower"], "broader": "", "passage": ""}
    assert reworded(same, FULL).phrasings == ("Velm Tower architect", "plans for Velm Tower")
    assert reworded(same, same) == Rewording()
    with ScriptedLLM({"reword": [same, FULL]}) as llm:
        roles(llm).rewriter.reword(NEED, ["Velm Tower plans"])
    assert "tried already" in llm.requests[1].user
    assert "- Velm Tower plans" in llm.requests[0].user


@pytest.mark.parametrize(
    ("replies", "query"),
    [
        ([{"query": "Velm Tower architect"}], "Velm Tower architect"),
        ([{"query": '"Velm Tower" architect\nsite:example.org'}], "Velm Tower architect"),
        ([{"query": ["Velm", "Tower"]}], "Velm, Tower"),
        ([{"query": ""}, {"query": "Velm"}], "Velm"),
        ([{"query": " "}, {"query": ""}], NEED.question),
    ],
)
def test_web_queries_are_a_few_plain_words(replies: list[Any], query: str) -> None:
    with ScriptedLLM({"web_query": replies}) as llm:
        assert roles(llm).rewriter.web_query(NEED) == query


# --- questions of a passage ---------------------------------------------------------------------

PASSAGE = Passage("t", 0, 0, 40, "It was drawn up by Jan Orsk.", "Velm Tower > History")


def writer(llm: ScriptedLLM, cache: Cache | None = None) -> LLMQuestionWriter:
    return LLMQuestionWriter(RoleCall("questions", QuestionsReply, llm, CountingBudget(), cache, 1024))


def written(*replies: Scripted, count: int = 2) -> tuple[str, ...]:
    with ScriptedLLM({"questions": replies}) as llm:
        return writer(llm).write(PASSAGE, count)


def test_the_passage_stands_in_a_fence_with_its_title() -> None:
    with ScriptedLLM({"questions": [{"questions": ["Who designed Velm Tower?"]}]}) as llm:
        assert writer(llm).write(PASSAGE, 2) == ("Who designed Velm Tower?",)
    [request] = llm.requests
    assert "Velm Tower > History\nIt was drawn up by Jan Orsk.\n</passage " in request.user
    assert "up to 2 questions" in request.system


def test_questions_are_single_lines_without_repeats_and_no_more_than_wanted() -> None:
    reply = {"questions": ["Who\nbuilt it?", "who built it?", "", "x" * 999, "When?"]}
    assert written(reply, count=2) == ("Who built it?", "x" * LONGEST_QUESTION)
    assert written({"questions": []}) == ()


def test_the_same_passage_is_asked_about_once_and_another_anew() -> None:
    cache = DictCache()
    with ScriptedLLM({"questions": [{"questions": ["A?"]}, {"questions": ["B?"]}, {"questions": ["C?"]}]}) as llm:
        moved = replace(PASSAGE, document_id="elsewhere", start=7, end=47, ordinal=3)
        assert writer(llm, cache).write(PASSAGE, 1) == writer(llm, cache).write(moved, 1) == ("A?",)
        assert writer(llm, cache).write(replace(PASSAGE, text="It fell."), 1) == ("B?",)
        assert writer(llm, cache).write(PASSAGE, 2) == ("C?",)
