"""An answer as Markdown, and its parts as HTML. Everything in it is text: markup in it is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from iterative_rag.storage import output
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import escaped_markdown
from iterative_rag.text.text_blocks import TextBlock, TextHeading, TextParagraph, TextTable, text_blocks
from iterative_rag.types import Answer, Citation, ConfidenceWord, ReasonCode

if TYPE_CHECKING:
    from iterative_rag.app.conversations import Conversation

# How the source of a document is told.
SourceName = Callable[[str], str]
# A model of eight billion parameters, which many machines can run; README.md names the same one.
_LLM = "llama3.1:8b"


def conversation_as_markdown(conversation: Conversation, name: SourceName = str) -> str:
    """The name as heading, then every question as it was typed and what it was understood as, with its answer."""
    parts = [f"# {_md(conversation.name)}\n"]
    for turn in conversation.turns:
        parts.append(as_markdown(turn.answer, name, heading=f"## {_md(turn.asked)}", understood=turn.rewritten))
    return "\n".join(parts)


def as_markdown(answer: Answer, name: SourceName = str, *, heading: str = "", understood: bool = False) -> str:
    """The question as heading, the answer, and its numbered quotes. `name` tells the source of a document. With
    `understood` the heading is a follow-up, and the question that it stands for follows it."""
    lines = [heading or f"# {_md(answer.question)}", ""]
    if understood:
        lines += [f"*Understood as: {_md(answer.question)}*", ""]
    lines += [*markdown_body(answer), ""]
    for citation in answer.citations:
        lines += _md_citation(citation, name)
    if answer.nearest:
        lines += [output.NEAREST, ""]
    for passage in answer.nearest:
        lines += _md_citation(passage, name)
    return "\n".join([*lines, f"*{_md(output.cost(answer))}*", ""])


def markdown_body(answer: Answer) -> Iterator[str]:
    """The answer in lines, without its quotes: how sure it is, its value, its text, the way to it, and remarks."""
    head, _ = output.headline(answer)
    if head:
        yield f"**{head.strip()}** {_md(answer.reason if answer.label else '')}".rstrip()
    if head and answer.confidence_word is not ConfidenceWord.WEAK_GUESS:
        yield ""
    if short := output.apart(answer):
        yield from (f"**{_md(short)}**", "")
    for block in text_blocks(answer.text) if answer.form.is_text else ():
        yield from (*markdown_lines(block), "")
    for said in output.said_lines(answer):
        before, value, after = map(escaped_markdown, output.around_value(said, answer))
        yield from (f"{before}**{value}**{after}" if value else before, "")
    if chain := output.chain_lines(answer):
        yield from (*(f"- {_md(link)}" for link in chain), "")
    for told in output.remarks(answer):
        yield from (_md(told), "")


def to_try(answer: Answer) -> Iterator[tuple[str, str]]:
    """What may help after an ending without an answer, each with the option that does it; "" where none does."""
    if answer.reason_code is ReasonCode.LIMIT and answer.cap:
        limit = answer.settings.get(f"max_{answer.cap.value}")
        yield "a higher limit", f"--max-{answer.cap.value} {2 * limit if isinstance(limit, int | float) else 'N'}"
    if answer.reason_code is not ReasonCode.NOT_WORKED_OUT:
        return
    builtin = answer.settings.get("backend", "builtin") == "builtin"
    if builtin and not answer.hops:
        return  # the question names nothing that could be looked up, as its reason says
    yield "other words, or one fact at a time", ""
    if not builtin:
        if answer.settings.get("strategy") == "iterative":
            yield "a strategy that checks more", "--strategy full"
        return
    if not answer.settings.get("guess"):
        yield "a guess", "--guess"
    yield "an LLM", f"--llm ollama/{_LLM}, after: ollama pull {_LLM}"


def _md_citation(citation: Citation, name: SourceName) -> list[str]:
    title = f"**{_md(citation.title)}**"
    title = f"[{title}](<{citation.link}>)" if citation.link else title
    copies = f"; the same text: {', '.join(map(name, citation.copies))}" if citation.copies else ""
    place = _md(f"{output.origin(citation, name)}{copies}")
    return [f"\\[{citation.n}\\] {title}, {place}", "", f"> {_md(output.quote_of(citation))}", ""]


def said_html(answer: Answer) -> Iterator[str]:
    """What an answer says, as paragraphs: how sure it is, its value where the text does not hold it, and its text."""
    label, _ = output.headline(answer)
    if label:
        yield f"<p><strong>{label.strip()}</strong> {_html(answer.reason)}</p>"
    if short := output.apart(answer):
        yield f'<p class="short">{_html(short)}</p>'
    for block in text_blocks(answer.text) if answer.form.is_text else ():
        yield block_html(block, escape)
    for said in output.said_lines(answer):
        before, value, after = map(escape, output.around_value(said, answer))
        yield f"<p>{before}{f'<strong>{value}</strong>' if value else ''}{after}</p>"


def markdown_lines(block: TextBlock) -> Iterator[str]:
    """A part of a text as Markdown, everything in it escaped."""
    match block:
        case TextHeading(text):
            yield f"## {_md(text)}"
        case TextParagraph(text, entry):
            yield f"{'- ' if entry else ''}{_md(text)}"
        case TextTable(rows):
            for n, row in enumerate(rows):
                yield f"| {' | '.join(map(_md, row))} |"
                if not n:
                    yield f"|{' --- |' * len(row)}"


def block_html(block: TextBlock, shown: Callable[[str], str]) -> str:
    """A part of a text as HTML; `shown` escapes what is in it."""
    match block:
        case TextHeading(text):
            return f"<h2>{shown(text)}</h2>"
        case TextParagraph(text, entry):
            return f"<p>{'• ' if entry else ''}{shown(text)}</p>"
        case TextTable(rows):
            head, *body = ([shown(cell) for cell in row] for row in rows)
            header = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
            lines = (
                f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
                for first, *rest in body
            )
            return f'<div class="table"><table><tr>{header}</tr>{"".join(lines)}</table></div>'


def _md(text: str) -> str:
    return escaped_markdown(one_line(text))


def _html(text: str) -> str:
    return escape(one_line(text))
