"""The plan of a question: a tree of look-ups, name parts and computations, evaluated from the leaves.

Every node carries `source`, the words of the original question that it covers, so that a rephrasing can replace them
with the value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import cast

from iterative_rag.builtin.language.function_words import PRONOUNS, QUESTION_WORDS, content
from iterative_rag.builtin.language.tokens import Token, tokenize
from iterative_rag.text.patterns import lazy_pattern


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
    YEARS = "years between"
    LEAST = "least"  # the label of the smallest value
    GREATEST = "greatest"
    SAME = "same"  # yes or no: are the values the same
    BOTH = "both"  # yes if all operands are yes
    CHOICE = "choice"  # the label whose operand is yes


@dataclass(frozen=True, slots=True)
class Computed:
    """A value computed from other values. `labels` name the operands of a comparison; `unit` is the unit of the
    result."""

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
# Plans a question whose words of the original one are given, and a noun phrase.
Expand = Callable[[str, str], Node]
Phrase = Callable[[str], Node]


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


@cache
def templates(name: str) -> dict[str, str]:
    """A table of `templates.toml`, in its order."""
    tables = tomllib.loads((Path(__file__).parent / "templates.toml").read_text(encoding="utf-8"))
    return cast(dict[str, str], tables[name])


def escape_braces(text: str) -> str:
    """Replace braces, which would be read as slots of a template."""
    return text.replace("{", "(").replace("}", ")")


_SHAPES = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:did|does|do) \{\d+\}(?: (?:for|to|in|by|with|from))?\W*$",  # the verb is missing
        r"\{\d+\}(?: born)?,? (?:who|whose|whom) (?!else\b)",  # a clause is left dangling
        r"^(?:what|who|where) (?:is|was) \{\d+\} (?:is|was|are|were|has|had|did|does)\b",  # two verbs
    )
)


def count_flaws(node: Node) -> int:
    """Number of malformed look-ups in a plan."""
    own = isinstance(node, Lookup) and not is_well_formed(node)
    return own + sum(count_flaws(slot) for slot in slots_of(node))


def is_well_formed(node: Lookup) -> bool:
    """Whether a look-up is a well-formed question, whatever its slots are filled with."""
    if not node.slots:
        return _is_specific(tokenize(node.template))
    # A value in a sentence before the question is not what is asked about.
    two_sentences = re.search(r"(?<=[\w\"”’'}]{2})[.] (?=[A-Z])", node.template)
    return not two_sentences and not any(shape.search(node.template) for shape in _SHAPES)


def _is_specific(tokens: list[Token]) -> bool:
    """Whether a look-up is specific enough to identify one thing: a name, or three content words, and no pronoun."""
    rest = tokens[1:]
    if any(token.low in PRONOUNS and token.low not in {"who", "you"} for token in rest[:3]):
        return False
    named = any(token.capital and token.low not in QUESTION_WORDS for token in rest)
    return named or len(content(" ".join(token.text for token in rest))) >= 3
