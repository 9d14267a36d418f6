"""The plan of a question: a tree of look-ups, name parts and computations, evaluated from the leaves.

Every node carries `source`, the words of the original question that it covers, so that a rephrasing can replace them
with the value.
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
    """A question to the corpus. `template` holds {0}, {1} ... for the values of `slots`."""

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
    """What is computed from the operands. Labels are the options that a comparison chooses from."""

    JOIN = "join"  # a name from its parts
    DIFFERENCE = "difference"
    SUM = "sum"
    RATIO = "ratio"
    YEARS = "years between"
    LEAST = "least"  # the label of the smallest value
    GREATEST = "greatest"
    EXCEEDS = "exceeds"  # yes or no: does the first operand win (`unit`: "least" or "greatest")
    SAME = "same"  # yes or no: are the values the same
    HOLDS = "holds"  # yes or no: is the first operand a value of the second; the third says yes or no itself
    COMMON = "common"  # the value that all operands share
    PICK = "pick"  # the label that the value names
    BOTH = "both"  # yes if all operands are yes
    EITHER = "either"  # yes if any operand is yes
    CHOICE = "choice"  # the label whose operand is yes (`unit` "no": the one whose operand is no)
    SEVERAL = "several"  # the values of several questions, each for itself
    DECADE = "decade"
    CENTURY = "century"
    MONTH = "month"
    WEEKDAY = "day of the week"


@dataclass(frozen=True, slots=True)
class Computed:
    """A value computed from other values. `labels` name the operands of a comparison, or are the questions of SEVERAL
    (with {0} for the first answer); `unit` is the unit of the result."""

    source: str
    operation: Operation
    operands: tuple[Node, ...]
    labels: tuple[Node, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The value of `first`, or of `second` if the look-ups of `first` found nothing that can be trusted and it is
    trusted more.

    `first` decomposes the question and `second` asks it whole: one sentence may state what the steps did not find. The
    `source` of `first` is empty, because no value replaces the whole question.
    """

    source: str
    first: Node
    second: Node


Node = Literal | Lookup | NamePart | Computed | Fallback


def slots_of(node: Node) -> tuple[Node, ...]:
    """The child nodes of a node."""
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


def escape_braces(text: str) -> str:
    """Replace braces, which would be read as slots of a template."""
    return text.replace("{", "(").replace("}", ")")
