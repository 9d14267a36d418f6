"""Query correction: what is searched for, and how the lists are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from iterative_rag.correction.query_correction import search_reworded
from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.llm.replies.forms import RewordingReply, WebQueryReply
from iterative_rag.llm.roles.rewriter import LLMRewriter
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.types import Document, Hit, Need, Rewording

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


# --- searching ---------------------------------------------------------------------------------


@dataclass
class Listed:
    """A corpus that finds what it is told to: query -> (document, dense rank) in the order of the fused list."""

    found: dict[str, list[tuple[str, int | None]]]
    calls: list[list[str]] = field(default_factory=list)
    name: str = "listed"
    fingerprint: str = "1"

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        self.calls.append(list(queries))
        return [
            [
                Hit(name, name, 10 * place, 10 * place + 9, 1 / (60 + place), dense, None if dense else 1)
                for place, (name, dense) in enumerate(self.found.get(query, []), start=1)
            ][:limit]
            for query in queries
        ]

    def document(self, document_id: str) -> Document:
        return Document(document_id, document_id, "x" * 500, f"{document_id}.md")

    def close(self) -> None:
        pass


def test_everything_is_searched_at_once_and_fused_by_reciprocal_rank() -> None:
    corpus = Listed({"one": [("a", 1), ("both", 2)], "two": [("b", 1), ("both", 2)], "broad": [("a", 9)]})
    rewording = Rewording(("one", "two", "one"), "broad", "passage")
    found = search_reworded(corpus, NEED, rewording, documents=2, passages=8)
    assert corpus.calls == [["one", "two", "broad", "passage"]]
    assert [entry.document_id for entry in found] == ["a", "both"]
    assert found[1].score == pytest.approx(2 / 62)
    assert found[1].source == "both.md"
    assert len(found[1].hits) == 1


def test_the_passage_is_ranked_by_meaning_alone() -> None:
    corpus = Listed({"It stands.": [("words only", None), ("far", 7), ("near", 1)]})
    found = search_reworded(corpus, NEED, Rewording((), "", "It stands."), documents=8, passages=8)
    assert [entry.document_id for entry in found] == ["near", "far"]


def test_hits_of_all_lists_come_with_a_document_each_once() -> None:
    corpus = Listed({"one": [("a", 1)], "two": [("b", 1), ("a", 2)], "broad": [("a", 3)]})
    (first, *_) = search_reworded(corpus, NEED, Rewording(("one", "two"), "broad"), documents=8, passages=8)
    assert [(hit.start, hit.score) for hit in first.hits] == [(10, 1 / 61), (20, 1 / 62)]


def test_documents_that_are_known_make_room_for_others() -> None:
    listed: list[tuple[str, int | None]] = [(f"known {n}", n) for n in range(1, 30)]
    corpus = Listed({"one": [*listed, ("new", 30)]})
    known = [f"known {n}" for n in range(1, 30)]
    found = search_reworded(corpus, NEED, Rewording(("one",)), documents=2, passages=64, besides=known)
    assert [entry.document_id for entry in found] == ["new"]


def test_nothing_to_search_with_finds_nothing() -> None:
    corpus = Listed({NEED.question: [("a", 1)]})
    for nothing in (Rewording(), Rewording(("",), " ", "\n"), Rewording((NEED.question,), "", NEED.question)):
        assert search_reworded(corpus, NEED, nothing, documents=8, passages=8) == ()
    assert corpus.calls == []
