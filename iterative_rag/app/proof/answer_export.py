"""An answer as Markdown or as a page of HTML that stands alone. Everything in it is text: markup of documents and
replies is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from iterative_rag.app.conversations import Conversation
from iterative_rag.storage.output import (
    NEAREST,
    apart,
    around_value,
    chain_lines,
    cost,
    headline,
    quote_of,
    remarks,
    said_lines,
)
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import escaped_markdown
from iterative_rag.text.text_blocks import TextBlock, TextHeading, TextParagraph, TextTable, text_blocks
from iterative_rag.types import Answer, Citation

# How the source of a document is told.
SourceName = Callable[[str], str]
_STYLE = (
    "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#222}"
    "h1{font-size:1.4rem}blockquote{margin:.3rem 0;padding-left:1rem;border-left:3px solid #ccc;color:#444}"
    ".short{font-size:1.2rem;font-weight:600}.dim{color:#666;font-size:.9rem}"
)


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
    head, _ = headline(answer)
    if answer.label:
        lines += [f"**{head.strip()}** {_md(answer.reason)}".rstrip(), ""]
    elif head:
        lines += [f"**{head.strip()}**", ""]
    if short := apart(answer):
        lines += [f"**{_md(short)}**", ""]
    for block in text_blocks(answer.text) if answer.form.is_text else ():
        lines += [*markdown_lines(block), ""]
    for said in said_lines(answer):
        before, value, after = map(escaped_markdown, around_value(said, answer))
        lines += [f"{before}**{value}**{after}" if value else before, ""]
    if chain := chain_lines(answer):
        lines += [*(f"- {_md(link)}" for link in chain), ""]
    for told in remarks(answer):
        lines += [_md(told), ""]
    for citation in answer.citations:
        lines += _md_citation(citation, name)
    if answer.nearest:
        lines += [NEAREST, ""]
    for passage in answer.nearest:
        lines += _md_citation(passage, name)
    return "\n".join([*lines, f"*{_md(cost(answer))}*", ""])


def _md_citation(citation: Citation, name: SourceName) -> list[str]:
    title = f"**{_md(citation.title)}**"
    title = f"[{title}](<{citation.link}>)" if citation.link else title
    return [f"\\[{citation.n}\\] {title}, {_md(_place(citation, name))}", "", f"> {_md(quote_of(citation))}", ""]


def as_html(answer: Answer, name: SourceName = str) -> str:
    """The same as a page that loads nothing and runs nothing."""
    body = [f"<h1>{_html(answer.question)}</h1>", *said_html(answer)]
    if chain := chain_lines(answer):
        body += ["<ul>", *(f"<li>{_html(link)}</li>" for link in chain), "</ul>"]
    body += [f"<p>{_html(told)}</p>" for told in remarks(answer)]
    body += [_html_citation(citation, name) for citation in answer.citations]
    if answer.nearest:
        body += [f"<p>{NEAREST}</p>", *(_html_citation(passage, name) for passage in answer.nearest)]
    body.append(f'<p class="dim">{_html(cost(answer))}</p>')
    head = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width">',
        f"<title>{_html(answer.question)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
    ]
    return "\n".join([*head, *body, "</body>\n</html>\n"])


def said_html(answer: Answer) -> Iterator[str]:
    """What an answer says, as paragraphs: how sure it is, its value where the text does not hold it, and its text."""
    label, _ = headline(answer)
    if label:
        yield f"<p><strong>{label.strip()}</strong> {_html(answer.reason)}</p>"
    if short := apart(answer):
        yield f'<p class="short">{_html(short)}</p>'
    for block in text_blocks(answer.text) if answer.form.is_text else ():
        yield block_html(block, escape)
    for said in said_lines(answer):
        before, value, after = map(escape, around_value(said, answer))
        yield f"<p>{before}{f'<strong>{value}</strong>' if value else ''}{after}</p>"


def _html_citation(citation: Citation, name: SourceName) -> str:
    where = f'<span class="dim">{_html(_place(citation, name))}</span>'
    title = f"<strong>{_html(citation.title)}</strong>"
    if citation.link:
        title = f'<a href="{escape(citation.link)}" rel="noopener noreferrer">{title}</a>'
    quote = f"<blockquote>{_html(quote_of(citation))}</blockquote>"
    return f"<p>[{citation.n}] {title} {where}</p>\n{quote}"


def _place(citation: Citation, name: SourceName) -> str:
    where = f"page {citation.page}" if citation.page else f"characters {citation.start}–{citation.end}"
    read_on = f", read on {citation.retrieved}" if citation.retrieved else ""
    copies = f"; the same text: {', '.join(map(name, citation.copies))}" if citation.copies else ""
    corpus = f"{citation.corpus}: " if citation.corpus else ""
    return f"{corpus}{name(citation.source)}, {where}{read_on}{copies}"


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
            lines = (f'<tr><th scope="row">{row[0]}</th>{_html_cells(row[1:])}</tr>' for row in body)
            return f'<div class="table"><table><tr>{header}</tr>{"".join(lines)}</table></div>'


def _html_cells(cells: Sequence[str]) -> str:
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _md(text: str) -> str:
    return escaped_markdown(one_line(text))


def _html(text: str) -> str:
    return escape(one_line(text))
