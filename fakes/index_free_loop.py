"""A small loop around the built-in backend: every page is read for every need, no index in between."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.engine.budget import RunBudget
from iterative_rag.types import Draft, Extract, Fact, Inquiry, Need, Needs, Window

BACKEND = BuiltinBackend(HashingEmbedder())


class UntouchedBudget(RunBudget):
    """The built-in backend costs no calls: it must never ask its budget anything."""

    def __init__(self) -> None:
        pass


ROLES = BACKEND.roles(UntouchedBudget())


def window(title: str, text: str) -> Window:
    return Window(f"id of {title}", title, f"{title}.md", ((0, len(text)),), text)


def read(question: str, title: str, text: str) -> tuple[Extract, ...]:
    return ROLES.extractor.extract([Need(question)], [window(title, text)], question)


def best(question: str, title: str, text: str) -> str | None:
    extracts = read(question, title, text)
    return max(extracts, key=lambda extract: extract.score).value if extracts else None


def answer(question: str, pages: dict[str, str], hops: int = 8) -> tuple[Draft, Inquiry, list[str]]:
    """Run the loop over all pages; returns the draft, the last inquiry and the rephrasings."""
    inquiry, rephrasings = Inquiry(question, question), []
    for _ in range(hops):
        analysis = ROLES.analyst.analyse(inquiry)
        if not isinstance(analysis, Needs):
            break
        found = [fact for need in analysis.needs for fact in facts(need, pages)]
        rephrased = ROLES.rephraser.rephrase(inquiry, found)
        if rephrased != inquiry.question:
            rephrasings.append(rephrased)
        inquiry = Inquiry(question, rephrased, (*inquiry.facts, *found), (*inquiry.tried, *analysis.needs))
    return ROLES.answerer.answer(inquiry), inquiry, rephrasings


def facts(need: Need, pages: dict[str, str]) -> Sequence[Fact]:
    found = []
    for title, text in pages.items():
        for extract in ROLES.extractor.extract([need], [window(title, text)], need.question):
            start = text.index(extract.quote)
            place = (f"id of {title}", title, f"{title}.md", start, start + len(extract.quote))
            found.append(Fact(extract.statement, extract.quote, extract.value, *place, need, extract.score))
    return sorted(found, key=lambda fact: -fact.score)
