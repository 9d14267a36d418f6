"""A question as a tree of look-ups: what must be known first, and what is done with it.

Every node carries `source`, the words of the original question that it stands for, so that a rephrasing can put
the value in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Literal:
    """A name or phrase that stands for itself."""

    source: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """A question to the corpus. `template` has a mark {0}, {1} ... for each of `slots`."""

    source: str
    template: str
    slots: tuple[Node, ...] = ()


class Part(StrEnum):
    """A part of a person's name."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"
    MAIDEN = "maiden"


@dataclass(frozen=True, slots=True)
class NamePart:
    """The first name, surname or maiden name of a person."""

    source: str
    part: Part
    person: Node


class Operation(StrEnum):
    """What is computed from values that were looked up."""

    JOIN = "join"  # a name out of its parts
    DIFFERENCE = "difference"
    SUM = "sum"
    RATIO = "ratio"
    YEARS = "years between"
    LEAST = "least"  # which of the labelled has the smallest value
    GREATEST = "greatest"
    EXCEEDS = "exceeds"  # yes or no: does the first come out of the comparison (`unit`: least or greatest)
    SAME = "same"  # yes or no: do they share the value
    COMMON = "common"  # the value that all have
    PICK = "pick"  # which of the labelled the value names
    BOTH = "both"  # yes if each is yes
    EITHER = "either"  # yes if one is yes
    CHOICE = "choice"  # which of the labelled answers yes (`unit`: "no" where it is the one that does not)
    SHARED = "shared"  # what the descriptions have in common
    RICHEST = "richest"  # which of the labelled has the longest list
    DECADE = "decade"
    CENTURY = "century"
    MONTH = "month"
    WEEKDAY = "day of the week"


@dataclass(frozen=True, slots=True)
class Computed:
    """A value out of other values. `labels` name the operands of a comparison, `unit` the unit of a number."""

    source: str
    operation: Operation
    operands: tuple[Node, ...]
    labels: tuple[Node, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The value of `first`; where it brings none though its look-ups were tried, that of `second`.

    `first` takes the question apart, `second` asks it as it stands: an article may say in one sentence what the plan
    could not find in steps. The `source` of `first` is empty: no value takes the place of the whole question.
    """

    source: str
    first: Node
    second: Node


Node = Literal | Lookup | NamePart | Computed | Fallback


def slots_of(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Lookup():
            return node.slots
        case NamePart():
            return (node.person,)
        case Computed():
            return (*node.operands, *node.labels)
        case Fallback():
            return (node.first,)
        case Literal():
            return ()
