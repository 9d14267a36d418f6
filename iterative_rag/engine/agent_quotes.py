"""Quotes that a model claims to have read, verified in the documents: facts, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.protocols import FactCheck
from iterative_rag.retrieval.article_titles import ArticleTitles
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import language
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.plurals import counted
from iterative_rag.text.value_members import with_implied
from iterative_rag.text.values import Mention
from iterative_rag.types import Computation, Document, Extract, Fact, Inquiry, Need, QuotedPassage, ToolResult, Window

REFUSED = "refused quotes"
SCORE = 1.0


def verified(
    quoted: QuotedPassage, inquiry: Inquiry, titles: ArticleTitles, opened: Sequence[Document], check: FactCheck | None
) -> Fact | None:
    """The fact, with what the `check` says of it, if the quote stands in an article of that title or, where it names
    none that does, in one that was `opened`; else None."""
    named = titles.articles(quoted.title) if quoted.title else []
    for document in (*named, *opened):
        span = locate(quoted.quote, document.text, [(0, len(document.text))])
        if span is not None:
            return _fact(quoted, inquiry, document, *span, check)
    return None


def told_of_quotes(noted: Sequence[QuotedPassage], refused: Sequence[str]) -> Iterator[ToolResult]:
    """What the model is told of its quotes: those that were refused, else how many were kept."""
    if refused:
        said = "\n".join(f'- "{quote}"' for quote in refused)
        yield ToolResult(REFUSED, "these stand in no article word for word; copy what it says exactly", said)
    elif noted:
        yield ToolResult("note", counted(len(noted), "quote") + " kept")


def values_of(
    computation: Computation, named: Sequence[int], inquiry: Inquiry, earlier: Sequence[Computation]
) -> tuple[tuple[int, ...], list[str]]:
    """Which of the facts that a computation names hold one of its values, and the values that none of them holds, nor
    an earlier result or the question; of a single digit, which may be a number of things counted, nothing is said."""
    expression = computation.expression
    wanted = single(mentions(expression, "en"))
    quoted = {n: _values(inquiry.facts[n].quote) for n in named if n < len(inquiry.facts)}
    facts = [n for n, values in quoted.items() if any(stands_in(value, other) for value in wanted for other in values)]
    known = [value for values in quoted.values() for value in values]
    known += [value for text in (inquiry.original, *(step.result for step in earlier)) for value in _values(text)]
    spelt = [expression[value.start : value.end] for value in wanted if not any(stands_in(value, k) for k in known)]
    return tuple(facts), [value for value in spelt if len(value) > 1] if named else []


def _values(text: str) -> tuple[Mention, ...]:
    return with_implied(single(mentions(text, language(text) or "en")), text)


def _fact(
    quoted: QuotedPassage, inquiry: Inquiry, document: Document, start: int, end: int, check: FactCheck | None
) -> Fact:
    """The fact, with no value that its quote does not support, and no question that names what was never shown."""
    quote = document.text[start:end]
    seen = Window(document.id, document.title, document.source, ((0, len(document.text)),), document.text)
    known = " ".join([inquiry.original, *(fact.quote for fact in inquiry.facts)])
    said = f"{quoted.question} {quoted.value}".strip()
    held = borne_out(Extract(said or quote, quote, quoted.value, SCORE), Need(known), seen)
    asked = quoted.question if held.statement == said else ""
    # Values of facts that answer different questions must not look like answers to the same one.
    held = replace(held, value=held.value if asked else "")
    return fact_at(document, start, end, Need(" ".join(asked.split()) or inquiry.original), held, check)
