"""The chain of an answer as a graph: its nodes and links, how firm they are, and how they are drawn."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, CITATION, FACT, HOP, NEED, UNREAD
from iterative_rag.app.proof.graph_svg import graph_svg, words
from iterative_rag.app.proof.proof_graph import NodeKind, ProofGraph, ProofLink, ProofNode, Standing, proof_graph
from iterative_rag.types import Answer, ChainLink, Citation, ConfidenceWord, Conflict, HopRecord, Need, Side, Status

FOUNDER = dataclasses.replace(
    FACT,
    statement="Edda Holm founded Aldermere.",
    quote="It was founded by Edda Holm.",
    value="Edda Holm",
    title="Aldermere",
    source="corpus/Aldermere.md",
    start=5,
    end=33,
    need=Need("Who founded Aldermere?"),
)
SECOND = HopRecord(2, "Who founded Aldermere?", (FOUNDER.need.question,), ("Aldermere",), (FOUNDER,), "", 1, 0.1)
CHAIN = dataclasses.replace(
    ANSWERED,
    text="Aldermere was founded by Edda Holm [2].",
    citations=(CITATION, Citation(2, "Aldermere", FOUNDER.source, FOUNDER.quote, FOUNDER.start, FOUNDER.end)),
    hops=(HOP, SECOND),
    chain=(ChainLink(NEED.question, "Aldermere", (1,)), ChainLink(FOUNDER.need.question, "Edda Holm", (2,), (1,))),
    computations=(),
    conflicts=(),
    claims=(),
    confidence_word=ConfidenceWord.LIKELY,
)


def links(answer: Answer) -> dict[tuple[str, str], Standing]:
    return {(link.source, link.target): link.standing for link in proof_graph(answer).links}


def test_a_chain_leads_from_the_question_over_needs_and_facts_to_the_answer() -> None:
    graph = proof_graph(CHAIN)
    assert [node.kind for node in graph.nodes] == [
        NodeKind.QUESTION,
        NodeKind.NEED,
        NodeKind.FACT,
        NodeKind.NEED,
        NodeKind.FACT,
        NodeKind.ANSWER,
    ]
    assert links(CHAIN) == {
        ("question", "need-1"): Standing.FIRM,
        ("need-1", "fact-1"): Standing.FIRM,
        ("fact-1", "need-2"): Standing.FIRM,  # it asks about what was found
        ("need-2", "fact-2"): Standing.FIRM,
        ("fact-2", "answer"): Standing.FIRM,
    }


def test_links_say_how_firm_they_are() -> None:
    weak = dataclasses.replace(SECOND, facts=(dataclasses.replace(FOUNDER, score=0.2),))
    assert links(dataclasses.replace(CHAIN, hops=(HOP, weak)))["need-2", "fact-2"] is Standing.WEAK
    inferred = dataclasses.replace(SECOND, facts=(dataclasses.replace(FOUNDER, value="the lady of the manor"),))
    assert links(dataclasses.replace(CHAIN, hops=(HOP, inferred)))["need-2", "fact-2"] is Standing.INFERRED
    disputed = dataclasses.replace(CHAIN, conflicts=ANSWERED.conflicts)
    assert links(disputed)["need-1", "fact-1"] is Standing.CONTRADICTED
    guess = dataclasses.replace(CHAIN, confidence_word=ConfidenceWord.WEAK_GUESS)
    assert links(guess)["fact-2", "answer"] is Standing.WEAK
    graph = proof_graph(disputed)
    assert "contradicted" in words(graph, next(node for node in graph.nodes if node.id == "fact-1"))


@pytest.mark.parametrize(
    ("short", "status", "crossed"),
    [
        ("Edda Holm", Status.ANSWERED, {"fact-2": Standing.FIRM, "fact-3": Standing.CONTRADICTED}),
        ("", Status.INCOMPLETE, {"fact-2": Standing.CONTRADICTED, "fact-3": Standing.CONTRADICTED}),
    ],
)
def test_of_sources_that_differ_the_side_that_was_taken_is_not_crossed_out(
    short: str, status: Status, crossed: dict[str, Standing]
) -> None:
    other = dataclasses.replace(FOUNDER, quote="Pia Orm founded it.", value="Pia Orm", start=90, end=109)
    disputed = dataclasses.replace(
        CHAIN,
        text="Edda Holm [2]; another source: Pia Orm [3].",
        short_answer=short,
        status=status,
        citations=(*CHAIN.citations, Citation(3, "Aldermere", other.source, other.quote, 90, 109)),
        hops=(HOP, dataclasses.replace(SECOND, facts=(FOUNDER, other))),
        conflicts=(Conflict(FOUNDER.need.question, (Side("Edda Holm", (2,)), Side("Pia Orm", (3,)))),),
    )
    assert {node: standing for (node, end), standing in links(disputed).items() if end == "answer"} == crossed
    assert graph_svg(proof_graph(disputed)).count('class="cross"') == len(
        [standing for standing in crossed.values() if standing is Standing.CONTRADICTED]
    )


def test_an_ending_without_an_answer_says_so() -> None:
    for answer in (ABSTAINED, CAPPED, UNREAD):
        last = proof_graph(answer).nodes[-1]
        assert (last.kind, last.text) == (NodeKind.NO_ANSWER, answer.reason)
    assert {link.standing for link in proof_graph(CAPPED).links if link.target == "answer"} == {Standing.WEAK}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.text(max_size=60), st.randoms())
def test_any_graph_can_be_drawn(sizes: list[int], text: str, random: object) -> None:
    nodes = [ProofNode("question", NodeKind.QUESTION, text)]
    drawn = []
    for rank, size in enumerate(sizes, start=1):
        for n in range(size):
            node = ProofNode(f"n{rank}-{n}", NodeKind.FACT, text * n, text, citation=n + 1, rank=rank)
            drawn += [ProofLink(before.id, node.id) for before in nodes if before.rank < rank][:3]
            nodes.append(node)
    svg = ET.fromstring(graph_svg(ProofGraph(tuple(nodes), tuple(drawn)), lambda node: "#quote"))
    assert len(svg.findall(".//{*}rect")) == len(nodes)
    assert {link.get("href") for link in svg.findall(".//{*}a")} == {"#quote"}
