"""An answer as the text of a chat message: Markdown with `[n]`, and its sources as links below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from iterative_rag.app.proof.answer_export import markdown_lines
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.storage.output import apart, around_value, chain_lines, quote_of, remarks, said_lines
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import escaped_markdown
from iterative_rag.text.text_blocks import text_blocks
from iterative_rag.types import Answer, Citation, ConfidenceWord, Status

if TYPE_CHECKING:
    from iterative_rag.serve.openai_door.chat_request import ChatRequested

# A token of English on average: the text is not the output of one model, whose tokens could be counted.
CHARS_PER_TOKEN = 4
# What a follow-up that was put in other words begins with; `earlier_messages` reads it again.
UNDERSTOOD = "Understood as:"
# Of a quote; a row of a table may be a page long. The whole quote is in `iterative_rag.citations` of the reply.
_MOST_QUOTED = 400
_MARKER = re.compile(r"\\\[(\d+)\\\]")


@dataclass(frozen=True, slots=True)
class Content:
    """The text of the message, why it ends ("stop" or "length"), and the reason where there is no answer."""

    text: str
    finish_reason: str
    refusal: str | None
    annotations: tuple[dict[str, Any], ...] = ()


def content_of(answer: Answer, requested: ChatRequested, server: str, understood: str = "") -> Content:
    """An abstention is told in the text, which every client shows, and in `refusal`, where programs look. A limit of
    the run, and `max_tokens`, end with "length". `understood` is the question that a follow-up stands for. A source
    without a web address is linked to the page of the `server` (its address) that shows the quote in its article.
    """
    answer = public_ending(answer)
    quotes = f"{server}runs/{quote(answer.run_id)}/quotes/"
    links = {citation.n: citation.link or f"{quotes}{citation.n}" for citation in answer.citations}
    first_lines = [f"*{UNDERSTOOD} {_shown(understood)}*", ""] if understood else []
    text = "\n".join([*first_lines, *_lines(answer, links)]).strip()
    finish = "length" if answer.cap is not None else "stop"
    first = min((offset for stop in requested.stop or () if (offset := text.find(stop)) >= 0), default=None)
    if first is not None:
        text, finish = text[:first], "stop"
    if requested.most_tokens is not None and len(text) > requested.most_tokens * CHARS_PER_TOKEN:
        text, finish = text[: requested.most_tokens * CHARS_PER_TOKEN], "length"
    refusal = f"{answer.label}: {answer.reason}" if answer.status is Status.ABSTAINED else None
    return Content(text, finish, refusal, tuple(_annotations(text, answer, links)))


def _lines(answer: Answer, links: Mapping[int, str]) -> Iterator[str]:
    if answer.label:
        yield f"**{answer.label}:** {_shown(answer.reason)}"
        yield ""
    elif answer.confidence_word is ConfidenceWord.WEAK_GUESS:
        yield "**Weak guess:**"
    for block in text_blocks(answer.text) if answer.form.is_text else ():
        yield from (*(_MARKER.sub(r"[\1]", line) for line in markdown_lines(block)), "")
    for line in said_lines(answer):
        before, value, after = map(_as_text, around_value(line, answer))
        yield f"{before}**{value}**{after}" if value else before
    if short := apart(answer):
        yield f"**{_shown(short)}**"
    if chain := chain_lines(answer):
        yield from ("", *(f"- {_shown(line)}" for line in chain))
    if told := [_shown(remark) for remark in remarks(answer)]:
        yield from ("", *told)
    if answer.citations:
        yield from ("", "Sources:", "", *(_source(citation, links[citation.n]) for citation in answer.citations))
    if answer.nearest:
        yield from ("", "What comes nearest:", "", *(_source(citation, citation.link) for citation in answer.nearest))


def _source(citation: Citation, link: str) -> str:
    """`[1] [Title](<https://...>): “the quote”`; each a paragraph of its own."""
    title = _shown(citation.title)
    title = f"[{title}](<{link}>)" if link else f"*{title}*"
    page = f", page {citation.page}" if citation.page else ""
    said = quote_of(citation)
    said = said if len(said) <= _MOST_QUOTED else f"{said[:_MOST_QUOTED].rstrip()} …"
    return f"[{citation.n}] {title}{page}: “{_shown(said)}”  "


def _shown(text: str) -> str:
    return _as_text(one_line(text))


def _as_text(line: str) -> str:
    """A line of text of documents and models, of which Markdown makes nothing; only `[n]` stays as it is."""
    return _MARKER.sub(r"[\1]", escaped_markdown(line))


def _annotations(text: str, answer: Answer, links: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """The markers of the text with what they lead to, as the protocol tells them to programs."""
    titles = {citation.n: citation.title for citation in answer.citations}
    body = text.partition("\nSources:\n")[0]
    for marker in re.finditer(r"\[(\d{1,4})\]", body):
        number = int(marker[1])
        if number in links:
            span = {"start_index": marker.start(), "end_index": marker.end()}
            told = {**span, "title": titles[number], "url": links[number]}
            yield {"type": "url_citation", "url_citation": told}
