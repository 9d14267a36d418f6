"""The part of a corpus that a question or a search is kept to."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from shlex import quote

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
