"""What is searched with: other words for a need, a query for the web, and the questions that find a passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from fakes.scripted_llm import ScriptedLLM
from iterative_rag.types import Need, Rewording
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
