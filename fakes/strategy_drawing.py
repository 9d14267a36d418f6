"""Draws a strategy as a Mermaid flowchart: its nodes are the steps that a run yields, its edges what may follow what.

A combination of parts is drawn from its `Composition`, so that the drawing cannot disagree with what is built. A test
runs the strategies and finds every pair of steps in the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from iterative_rag.engine.strategies import Composition, Flow
from iterative_rag.registry import STRATEGIES


class Edge(NamedTuple):
    """`after` may follow `before`, both names of steps as traces have them; `when` says when, "" for always. `web`:
    only where the user allows the web."""

    before: str
    after: str
    when: str = ""
    web: bool = False


QUESTION = "question"
# How an answer is checked where a strategy does not reflect.
GUARDED = (
    Edge("answering", "final"),
    Edge("answering", "reflection", "it names what no fact does"),
    Edge("reflection", "answering", "once more"),
    Edge("reflection", "final", "proved in part, or withheld"),
)
# Strategies that are not combinations of parts.
OTHERS: Mapping[str, tuple[Edge, ...]] = {
    "naive": (
        Edge(QUESTION, "shortlist"),
        Edge("shortlist", "reading"),
        Edge("reading", "answering"),
        *GUARDED,
    ),
    "agent": (
        Edge(QUESTION, "shortlist", "the model searches"),
        Edge(QUESTION, "tool", "or uses another tool"),
        Edge(QUESTION, "reading", "or quotes at once"),
        Edge(QUESTION, "answering", "or gives up"),
        Edge("shortlist", "tool"),
        Edge("tool", "shortlist", "next turn"),
        Edge("shortlist", "reading", "quotes are noted"),
        Edge("tool", "reading", "quotes are noted"),
        Edge("reading", "shortlist", "next turn"),
        Edge("reading", "tool", "next turn"),
        Edge("reading", "answering", "it submits"),
        Edge("shortlist", "answering", "it gives up"),
        Edge("tool", "answering", "facts noted before are enough, or it gives up"),
        *GUARDED,
    ),
    "closed-book": (Edge(QUESTION, "answering"), Edge("answering", "final")),
}
_SHOWN = {"planning": "plan", "tool": "tool call", "final": "answer", "web": "web search"}


def edges(strategy: str) -> tuple[Edge, ...]:
    """What may follow what in a run of a strategy. Raises UsageError if there is none of that name."""
    made = STRATEGIES.load(strategy)
    return tuple(_edges(made)) if isinstance(made, Composition) else OTHERS[strategy]


def mermaid(strategy: str) -> str:
    """The flowchart of a strategy. Raises UsageError if there is none of that name."""
    drawn = edges(strategy)
    names = dict.fromkeys(name for edge in drawn for name in edge[:2])
    nodes = [f"    {name}([{name}])" if name == QUESTION else f"    {name}[{_SHOWN.get(name, name)}]" for name in names]
    lines = [f"    {edge.before} {_arrow(edge)} {edge.after}" for edge in drawn]
    return "\n".join(["flowchart LR", *nodes, *lines])


def _arrow(edge: Edge) -> str:
    line = "-.->" if edge.web else "-->"
    return f'{line}|"{edge.when}"|' if edge.when else line


def _edges(parts: Composition) -> Iterator[Edge]:
    yield from _before_search(parts)
    yield from _search(parts)
    yield from _after_search(parts)
    yield from _answer(parts)


def _before_search(parts: Composition) -> Iterator[Edge]:
    match parts.flow:
        case Flow.SINGLE:
            yield Edge(QUESTION, "shortlist")
        case Flow.PLAN:
            yield Edge(QUESTION, "planning")
            yield Edge("planning", "shortlist", "next step")
        case Flow.LOOP:
            yield Edge(QUESTION, "analysis")
            yield Edge("analysis", "shortlist", "a fact is missing")


def _search(parts: Composition) -> Iterator[Edge]:
    """From a shortlist to its reading, with what is done where it falls short."""
    read = "refinement" if parts.refinement else "reading"
    if parts.refinement:
        yield Edge("refinement", "reading")
    if not parts.grading:
        yield Edge("shortlist", read)
        if parts.correction:
            yield Edge("reading", "correction", "no fact")
            yield Edge("correction", read)
        yield Edge("reading", "web", "no fact", web=True)
        yield Edge("web", read, web=True)
        return
    yield Edge("shortlist", "grading")
    yield Edge("grading", read, "correct, or nothing is left to try")
    if parts.correction:
        yield Edge("grading", "correction", "not correct")
        yield Edge("correction", "grading", "other documents")
        yield Edge("correction", read, "nothing new")
        yield Edge("correction", "web", "nothing new", web=True)
    yield Edge("grading", "web", "still not correct", web=True)
    yield Edge("web", read, web=True)


def _after_search(parts: Composition) -> Iterator[Edge]:
    match parts.flow:
        case Flow.SINGLE:
            yield Edge("reading", "answering")
        case Flow.PLAN:
            yield Edge("reading", "planning", "revised")
            yield Edge("planning", "answering", "nothing is left")
            yield Edge("planning", "tool", "a calculation")
            yield Edge("tool", "planning", "revised")
            yield Edge("tool", "answering", "nothing else is left")
            yield Edge("planning", "web", "a step for the web", web=True)
        case Flow.LOOP:
            yield Edge("reading", "rephrasing", "new facts")
            yield Edge("rephrasing", "analysis", "next hop")
            yield Edge("reading", "analysis", "next hop")
            yield Edge("reading", "answering", "nothing else is missing")
            before_answer = "sufficiency" if parts.sufficiency else "answering"
            yield Edge("analysis", before_answer, "known, or nothing helps")
            if parts.sufficiency:
                yield Edge("sufficiency", "shortlist", "a gap")
                yield Edge("sufficiency", "answering", "enough")


def _answer(parts: Composition) -> Iterator[Edge]:
    if not parts.reflection:
        yield from GUARDED
        return
    yield Edge("answering", "reflection")
    yield Edge("reflection", "answering", "a claim is not proved")
    if parts.flow is not Flow.PLAN:
        yield Edge("reflection", "shortlist", "another search may help")
    yield Edge("reflection", "final", "it stands, or nothing does")
    yield Edge("answering", "final", "nothing is answered")
