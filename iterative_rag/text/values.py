"""The values that a text may contain: numbers, dates, decades, centuries and ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from iterative_rag.text.dates import Date, YearDay


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number. `step` is the place value to which it is visibly rounded (0.1 for "5.1", 1e5 for "1.4 million"), or 0
    if it is exact; `ordinal` marks a rank.

    `unit` is the unit or currency under the name of `text.units`; `counted` are the folded words after a number.
    `bound` is ">" for "more than" and the like; `about` says that the text calls the number approximate.
    """

    value: float
    step: float = 0.0
    ordinal: bool = False
    unit: str = ""
    counted: tuple[str, ...] = ()
    bound: str = ""
    about: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """A date. `bound` is ">" for "after", `about` stands for "circa"."""

    date: Date | YearDay
    bound: str = ""
    about: bool = False

    @property
    def parts(self) -> tuple[int | None, int, int]:
        """Year, month and day; None or 0 where they are not given."""
        year = self.date.year if isinstance(self.date, Date) else None
        return year, self.date.month, self.date.day


@dataclass(frozen=True, slots=True)
class Period:
    """A decade or a century, from its first to its last astronomical year."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Span:
    """A range from one value to another."""

    low: Quantity | Moment
    high: Quantity | Moment


Value: TypeAlias = Quantity | Moment | Period | Span


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in `text[start:end]`; `after` is where the words for what it counts end.

    `readings` are its meanings, the likeliest first: a bare 1987 is a year or a number, "12.400" 12.4 or 12,400.
    `worded` says that it is written in words, `named` that it is part of a name ("Apollo 11", "B-29"), `capitals` that
    a word for what it counts is capitalised ("12 Monkeys"). A range has two `ends`.
    """

    readings: tuple[Value, ...]
    start: int
    end: int
    after: int
    worded: bool = False
    named: bool = False
    capitals: bool = False
    ends: tuple[Mention, ...] = ()

    @property
    def is_time(self) -> bool:
        """Whether it is a date, a year, a decade or a century rather than a number."""
        return isinstance(self.readings[0], Moment | Period)
