"""Mails (.eml): their text parts in order, also those of messages within them; attachments are named and counted."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import policy
from email.message import MIMEPart
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path

from iterative_rag.errors import CorpusError, FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import NotText, decode
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.cells import table_of
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown, title_of
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.text.control_characters import one_line
from iterative_rag.types import Document

MAX_BYTES = 64 * 1024 * 1024
_HEADERS = ("from", "to", "cc")
_UNREADABLE = "text parts that cannot be read"
# A mail has at least one of these, or the file is something else.
_SIGNS = ("from", "to", "subject", "date", "message-id", "received")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_TABLES = {"text/csv": ",", "text/tab-separated-values": "\t"}
# Encodings of seven bits, which look like ASCII until they are decoded.
_SEVEN_BITS = re.compile(r"iso2022|utf.?7|hz")
_WORD, _LINK = re.compile(r"\w+"), re.compile(r"\]\([^)]*\)|<?https?://\S+")


def read(path: Path) -> Reading:
    source = shown(path)
    reading = _Reading(source)
    try:
        with path.open("rb") as file:
            mail = BytesParser(policy=policy.default).parse(file)
        if not any(_header(mail, name) for name in _SIGNS):
            raise CorpusError("It is not a mail: it has no header.")
        title = _header(mail, "subject") or title_of(path)
        body = "\n\n".join(filter(None, map(str.strip, reading.texts(mail))))
    except RecursionError as error:
        raise CorpusError("Its parts are nested too deeply to be read.") from error
    attached = [name for name in reading.attached if name]
    headers = _headers(mail)
    lines = [f"{name.capitalize()}: {value}" for name, value in headers]
    lines += [f"Attached, not read: {', '.join(attached)}"] if attached else []
    text = "\n\n".join(filter(None, [f"# {title}", "\n".join(lines), body]))
    reading.kinds["attached files"] = len(reading.attached)
    told = [*headers, *(("attachment", name) for name in attached), *not_read(reading.kinds)]
    yield Document("", title, text[:MAX_CHARS], source, metadata=metadata_of(told))
    if len(text) > MAX_CHARS:
        yield Skipped(source, f"It is too long: only its first {MAX_CHARS:,} characters are read.")


@dataclass
class _Reading:
    """The parts of one mail: what is attached by its name ("" for none), what is not read by its kind."""

    source: str
    attached: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def texts(self, part: MIMEPart) -> Iterator[str]:
        """The texts of a part and of those within it, in order."""
        kind = part.get_content_type()
        if kind == "message/rfc822":
            for message in part.iter_parts():
                lines = [f"{name.capitalize()}: {value}" for name, value in _headers(message)]
                yield "\n\n".join(filter(None, [f"## {_header(message, 'subject')}".rstrip("# "), "\n".join(lines)]))
                yield from self.texts(message)
        elif kind == "multipart/alternative":
            forms = ["\n\n".join(filter(None, map(str.strip, self.texts(form)))) for form in part.iter_parts()]
            # The forms say the same: the one of most words is the whole text.
            yield max(["", *forms], key=lambda text: len(set(_WORD.findall(_LINK.sub("", text.casefold())))))
        elif part.is_multipart():
            for inner in part.iter_parts():
                yield from self.texts(inner)
        elif kind.startswith(("text/", "message/")) and (text := self._text(part, kind)) is not None:
            yield text
        elif kind == "multipart/encrypted" or kind.endswith("pkcs7-mime"):
            self.kinds["encrypted parts"] += 1
        elif kind not in _SIGNATURES and not kind.startswith("multipart/"):
            self.attached.append(one_line(part.get_filename() or ""))

    def _text(self, part: MIMEPart, kind: str) -> str | None:
        """None for what is no text to be read, or cannot be decoded."""
        data = part.get_payload(decode=True)
        data = data if isinstance(data, bytes) else str(part.get_payload()).encode("utf-8", "replace")
        try:
            text = plain(_decoded(data, str(part.get_content_charset() or "")))
        except NotText:
            self.kinds[_UNREADABLE] += 1
            return ""
        if kind == "text/html" and text.strip():
            return self._page(text)
        if kind in _TABLES:
            return table_of([row for row in csv.reader(text.splitlines(), delimiter=_TABLES[kind]) if row])
        if kind in ("text/plain", "text/markdown", "text/enriched") or kind.startswith("message/"):
            return text
        return None

    def _page(self, content: str) -> str:
        try:
            page = html.page(content, self.source, "-")
        except FetchError as error:
            self.kinds[_UNREADABLE] += not isinstance(error, html.NoText)
            return ""
        heading, _, text = page.text.partition("\n")
        return text if heading == "# -" else page.text


def _decoded(data: bytes, declared: str) -> str:
    """The text in the encoding declared where it is of seven bits, else in the one that fits."""
    with contextlib.suppress(LookupError):
        if _SEVEN_BITS.match(codecs.lookup(declared).name.replace("_", "")):
            return data.decode(declared, "replace")
    try:
        return decode(data, declared)
    except NotText:
        if b"\0" in data:
            raise
    # A few letters in the encoding of most mails that declare a wrong one: too few to detect it by.
    return data.decode("cp1252", "replace")


def _headers(mail: MIMEPart) -> list[tuple[str, str]]:
    """From whom, to whom, and the day as ISO; without a day that no calendar has."""
    headers = [(name, value) for name in _HEADERS if (value := _header(mail, name))]
    with contextlib.suppress(ValueError, OverflowError):
        headers.append(("date", parsedate_to_datetime(_header(mail, "date")).date().isoformat()))
    return headers


def _header(mail: MIMEPart, name: str) -> str:
    """The values of a header on one line; "" for one that is missing or malformed."""
    try:
        values = [one_line(str(value)) for value in mail.get_all(name, [])]
    except (ValueError, IndexError, AttributeError, TypeError):  # what the parser of headers raises for some
        return ""
    return ", ".join(filter(None, values))


FORMAT = Format(read, MAX_BYTES, needs=("html_to_markdown", "selectolax"))
