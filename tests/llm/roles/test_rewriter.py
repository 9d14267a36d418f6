"""The rewriter: other words for a need, and a query for the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.llm.replies.forms import RewordingReply, WebQueryReply
from iterative_rag.llm.roles.query_writer import LLMRewriter
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.types import Need, Rewording

NEED = Need("Who designed Velm Tower?")

FULL = {
    "phrasings": ["Velm Tower architect", "plans for Velm Tower"],
    "broader": "Velm Tower",
    "passage": "It was built.",
}


def rewriter(llm: ScriptedLLM) -> LLMRewriter:
    meter = CountingBudget()
    return LLMRewriter(
        RoleCall("reword", RewordingReply, llm, meter, None, 1024),
        RoleCall("web_query", WebQueryReply, llm, meter, None, 1024),
    )


def reworded(*replies: Any, tried: Sequence[str] = ()) -> Rewording:
    with ScriptedLLM({"reword": list(replies)}) as llm:
        return rewriter(llm).reword(NEED, tried)


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


def test_at_most_three_phrasings_none_of_them_tried() -> None:
    reply = {**FULL, "phrasings": ["Who designed VELM TOWER", "a", "b", "c", "d"], "broader": "A."}
    assert reworded(reply, tried=["b!"]) == Rewording(("a", "c", "d"), "", "It was built.")


def test_a_model_that_repeats_itself_is_told_once() -> None:
    same = {"phrasings": ["who designed velm tower"], "broader": "", "passage": ""}
    assert reworded(same, FULL).phrasings == ("Velm Tower architect", "plans for Velm Tower")
    assert reworded(same, same) == Rewording()
    with ScriptedLLM({"reword": [same, FULL]}) as llm:
        rewriter(llm).reword(NEED, ["Velm Tower plans"])
    assert "tried already" in llm.requests[1].user
    assert "- Velm Tower plans" in llm.requests[0].user


def test_what_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ReplyUnreadable):
        reworded("no", '{"phrasings": ["cut o', "no")


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
        assert rewriter(llm).web_query(NEED) == query
