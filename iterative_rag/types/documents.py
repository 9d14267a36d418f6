"""Values of retrieval: documents, their links, passages, hits, the shortlist, the part of a corpus that is searched."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, fields
from shlex import quote

# What a document says of itself, as (key, value); a key with several values stands there as often.
Metadata = tuple[tuple[str, str], ...]
# The key for the day on which a file was written.
FILE_DATE_KEY = "file_date"
# The keys for the date of a document; the first that it has counts.
DATE_KEYS = ("date", "updated", "revised", "modified", "lastmod", "published", "created")
# The key for a section whose heading is in the text, and whose rows are not.
ROWS_LOST_KEY = "rows lost"
# A longer title is a text that pretends to be one.
TITLE_CHARS = 300
# They show nothing, and words of scripts from Hebrew on fall apart without them.
_JOINERS, _FIRST_JOINED = "\u200c\u200d", "\u0590"
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?!\d)")
_LINK = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)


def web_link(url: str | None) -> str:
    """The address if it may be shown as a link: http or https, of visible characters only; else ""."""
    return url if url and _LINK.fullmatch(url) and url.isprintable() else ""


def date_told(metadata: Metadata) -> str:
    """The date that a document tells of itself (a year, month or day, ISO); "" for none."""
    held = {key.casefold(): value for key, value in reversed(metadata)}
    return next((match[0] for key in DATE_KEYS if (match := _ISO_DATE.match(held.get(key, "")))), "")


def as_field(text: str) -> str:
    """What a document says of itself, as one line of visible characters: a line break in a title would put a line of
    its own wherever the title is shown."""
    if text.isprintable():
        return text.strip()
    shown = [" "]
    for sign in text:
        if sign.isspace() or unicodedata.category(sign) == "Cc":
            shown.append(" ")  # a control character parts what stands around it: an address with one is none
        elif sign.isprintable() or (sign in _JOINERS and shown[-1] >= _FIRST_JOINED):
            shown.append(sign)
    return "".join(shown).strip()


@dataclass(frozen=True, slots=True)
class Document:
    """One article or file of a corpus. `source` is the path or URL that it was read from; without one, and without an
    `id`, the title stands for it. What it says of itself is one line each.

    `pages` are the offsets at which pages 1, 2, ... begin; empty where there are no pages. `retrieved` is the day (ISO)
    on which a web page was read during a run, "" for a document of the corpus. `copies` are the sources of other
    documents with the same text. `metadata` comes from front matter, the fields of a record, the headers of a mail; a
    search can be kept to it.
    """

    id: str = ""
    title: str = ""
    text: str = ""
    source: str = ""
    url: str | None = None
    pages: tuple[int, ...] = ()
    retrieved: str = ""
    copies: tuple[str, ...] = ()
    metadata: Metadata = ()

    def __post_init__(self) -> None:
        title = " ".join(as_field(self.title).split())
        title = title if len(title) <= TITLE_CHARS else title[:TITLE_CHARS].rstrip() + " …"
        object.__setattr__(self, "title", title or "untitled")
        object.__setattr__(self, "source", as_field(self.source))
        object.__setattr__(self, "url", self.url and as_field(self.url))
        object.__setattr__(self, "copies", tuple(map(as_field, self.copies)))
        object.__setattr__(self, "metadata", tuple((as_field(key), as_field(value)) for key, value in self.metadata))

    @property
    def link(self) -> str:
        """The `url` if it may be shown as a link, else ""."""
        return web_link(self.url)

    @property
    def date(self) -> str:
        return date_told(self.metadata)

    @property
    def lost_rows(self) -> tuple[str, ...]:
        """The headings of the sections whose rows are not in the text."""
        return tuple(value for key, value in self.metadata if key == ROWS_LOST_KEY)

    def page_at(self, offset: int) -> int | None:
        """The page that an offset is on, counted from 1; None where there are no pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a document: `text == document.text[start:end]` up to a repeated table header.

    `header` is the context that the chunk itself lacks: the title, the section path and, for the later rows of a
    table, the table's header rows. It is embedded with the text and never quoted.
    """

    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    header: str

    @property
    def embedded_text(self) -> str:
        """What the embedder and BM25 see."""
        return f"{self.header}\n{self.text}" if self.header else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found. Ranks count from 1; None where that ranking does not contain it."""

    document_id: str
    title: str
    start: int
    end: int
    score: float
    dense_rank: int | None = None
    sparse_rank: int | None = None
    reader_rank: int | None = None


@dataclass(frozen=True, slots=True)
class ShortlistedDocument:
    """A document worth reading for a need, with the hits that it was chosen for, best first."""

    document_id: str
    title: str
    source: str
    score: float
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a row of a document, `text[start:end]` of it."""

    document_id: str
    title: str
    start: int
    end: int
    text: str


# --- a part of the corpus ------------------------------------------------------------------------


_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


@dataclass(frozen=True, slots=True)
class Within:
    """What a document must be of; "" and () are anything.

    `title` and `source` (path or URL) are a part of the name, or with `*` or `?` a pattern of all of it; case does not
    matter. `language` is the code of the document's language ("de"), as its metadata or the address of its page tell
    it. `since` is a day, month or year (2024-05-01, 2024-05, 2024): documents of that date or later. Each of `where` is
    a condition KEY=VALUE on the metadata of the document.

    Raises ValueError for a date or a condition that is none, and for what is no text.
    """

    title: str = ""
    source: str = ""
    language: str = ""
    since: str = ""
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        texts = (getattr(self, part.name) for part in fields(self) if part.name != "where")
        if not isinstance(self.where, tuple) or not all(isinstance(text, str) for text in (*texts, *self.where)):
            raise ValueError('Within takes texts, and where as a tuple of them: where=("author=Holm",)')
        checked_since(self.since)
        for text in self.where:
            condition(text)

    def __bool__(self) -> bool:
        return any(getattr(self, part.name) for part in fields(self))

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """`where` as (key, value)."""
        return tuple(map(condition, self.where))

    def __str__(self) -> str:
        """As it is typed: `--title Holm --where author=Holm`."""
        given = [(part.name, getattr(self, part.name)) for part in fields(self) if part.name != "where"]
        options = {"language": "document-language"}
        typed = [f"--{options.get(name, name)} {quote(value)}" for name, value in given if value]
        return " ".join([*typed, *(f"--where {quote(condition)}" for condition in self.where)])


def checked_since(value: str) -> str:
    """Raises ValueError for what is no date."""
    if value and not _DATE.fullmatch(value):
        raise ValueError(f"{value!r} is no date: a day, month or year such as 2024-05-01, 2024-05 or 2024")
    return value


def condition(text: str) -> tuple[str, str]:
    """The key and the value of KEY=VALUE. Raises ValueError."""
    key, sign, value = text.partition("=")
    if not (sign and key.strip() and value.strip()):
        raise ValueError(f"{text!r} is no condition: KEY=VALUE, such as author=Holm")
    return key.strip(), value.strip()
