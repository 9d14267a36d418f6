"""Mails (.eml): the text part with its headers; attachments are named and not opened."""

from __future__ import annotations

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import EXTRA, MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.metadata import metadata_of
from iterative_rag.types import Document

MAX_BYTES = 64 * 1024 * 1024
_HEADERS = ("from", "to", "cc")
# A mail has at least one of these, or the file is something else.
_SIGNS = ("from", "to", "subject", "date", "message-id", "received")


def read(path: Path) -> Reading:
    source = shown(path)
    try:
        with path.open("rb") as file:
            mail = BytesParser(policy=policy.default).parse(file)
    except RecursionError:
        yield Skipped(source, "Its parts are nested too deeply to be read.")
        return
    if not any(_header(mail, name) for name in _SIGNS):
        yield Skipped(source, "It is not a mail: it has no header.")
        return
    title = _header(mail, "subject") or title_of(path)
    body = _body(mail, source, title)
    if isinstance(body, Skipped):
        yield body
        return
    attached = [name for part in mail.iter_attachments() if (name := _line(part.get_filename() or ""))]
    headers = [(name, value) for name in _HEADERS if (value := _header(mail, name))]
    if date := _date(mail):
        headers.append(("date", date))
    lines = [f"{name.capitalize()}: {value}" for name, value in headers]
    lines += [f"Attached, not read: {', '.join(attached)}"] if attached else []
    text = "\n\n".join(filter(None, [f"# {title}", "\n".join(lines), body.strip()]))
    metadata = metadata_of([*headers, *(("attachment", name) for name in attached)])
    yield Document("", title, text[:MAX_CHARS], source, metadata=metadata)
    if len(text) > MAX_CHARS:
        yield Skipped(source, f"It is too long: only its first {MAX_CHARS:,} characters are read.")


def _body(mail: EmailMessage, source: str, title: str) -> str | Skipped:
    """The text part, else the web page as Markdown; "" where there is neither."""
    part = mail.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        content = plain(str(part.get_content()))
    except (LookupError, ValueError, KeyError) as error:
        return Skipped(source, f"Its text cannot be decoded ({type(error).__name__}).")
    if part.get_content_type() != "text/html" or not content.strip():
        return content
    from iterative_rag.sources.formats import html

    if lacking := html.FORMAT.missing():
        return Skipped(source, lacking, extra=EXTRA)
    page = html.page(content, source, title)
    return page if isinstance(page, Skipped) else page.text.partition("\n")[2]


def _header(mail: EmailMessage, name: str) -> str:
    """The values of a header on one line; "" for one that is missing or malformed."""
    return ", ".join(_headers(mail, name))


def _headers(mail: EmailMessage, name: str) -> Iterator[str]:
    try:
        values = [str(value) for value in mail.get_all(name, [])]
    except (ValueError, IndexError, AttributeError, TypeError):  # what the parser of headers raises for some
        return
    yield from filter(None, map(_line, values))


def _date(mail: EmailMessage) -> str:
    """The day, as ISO; "" for none, and for one that no calendar has."""
    try:
        return parsedate_to_datetime(_header(mail, "date")).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _line(text: str) -> str:
    return " ".join(plain(text).split())


FORMAT = Format(read, MAX_BYTES)
