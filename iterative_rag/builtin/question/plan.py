"""The plan of a question: a tree of look-ups, name parts and computations, evaluated from the leaves.

Every node carries `source`, the words of the original question that it covers, so that a rephrasing can replace them
with the value."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import cast

from iterative_rag.builtin.language.function_words import (
    BASE_VERBS,
    CONJUNCTIONS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RELATIVES,
    content,
)
from iterative_rag.builtin.language.tokens import Token, acts, is_participle, tokenize
from iterative_rag.text.patterns import lazy_pattern, table_beside


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
    DIFFERENCE = "difference"  # by which the first is taken to be more
    YEARS = "years between"  # by which the second is taken to be later, if `unit` says so
    LEAST = "least"  # the label of the smallest value
    GREATEST = "greatest"
    SAME = "same"  # yes or no: are the values the same
    BOTH = "both"  # yes if all operands are yes
    CHOICE = "choice"  # the label whose operand is yes


@dataclass(frozen=True, slots=True)
class Computed:
    """A value computed from other values. `labels` name the operands of a comparison, and what comes of equal ones if
    that is an answer; `unit` is the unit of the result."""

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
    return cast(dict[str, str], table_beside(__file__, "templates.toml")[name])


def escape_braces(text: str) -> str:
    """Replace braces, which would be read as slots of a template."""
    return text.replace("{", "(").replace("}", ")")


_PREPOSITION = r"(?:for|to|in|by|with|from|of|at|on)"
_FLAWS = tuple(
    lazy_pattern(pattern)
    for pattern in (
        rf"(?i)\b(?:did|does|do) \{{\d+\}}(?: {_PREPOSITION}\b.*)?\W*$",  # the verb is missing
        r"(?i)\{\d+\}(?: born)?,? (?:who|whose|whom) (?!else\b)",  # a clause is left dangling
        r"\{\d+\} [A-ZÀ-Þ][a-zà-þ]",  # half a name
        r", (?:and|so) (?:by )?(?:how|what|which|when|where|who)\b",  # a second question
        # A value in a sentence before the question is not what is asked about.
        r"[.] (?:(?:For|In|At|On|To|From|By|With|Of) )?(?:[Ww]h|[Hh]ow)",
        rf"^\{{\d+\}} (?:the|an?|{_PREPOSITION})\b",
        r"^\{\d+\} (?:is in wh\w+ year|was (?:it|he|she|wh\w+)\b)",  # "in which year" belongs to the description
        r"^\{\d+\}(?!.*\b(?:who|whom|whose|what|which|when|where|how|why)\b)",  # nothing is asked
        # What is meant stands in another part of the question.
        r"\b(?:the|an?) [a-z]+ \{\d+\} (?:and|did|is|was)\b",
        r"\b(?:the|that|those) (?:\w+ )?ones?\b|\b(?:that|those) of\b|\bof the same (?:name|title)\b",
    )
)
_OPENS_CLAUSE = RELATIVES | QUESTION_WORDS | CONJUNCTIONS | {"before", "after", "as", "since"}
# "In which year was it completed?"
_PRONOUN = lazy_pattern(
    r"^(?:\w+ ){1,4}(?:is|was|are|were|did|does|do|had|has) "
    r"(?:he|she|it|they|(?:his|her|its|their)(?! (?!first|second|last|own)[a-z]+ [A-ZÀ-Þ]))\b"
)
_COPULAR = lazy_pattern(r"^(?:what|who|where|(?:in )?wh\w+ \w+) (?:is|was|are|were) ", re.IGNORECASE)


def is_understood(node: Node) -> bool:
    """Whether every look-up of a plan is a well-formed question by itself, whatever its slots are filled with."""
    return not (isinstance(node, Lookup) and _has_flaw(node)) and all(map(is_understood, slots_of(node)))


def _has_flaw(node: Lookup) -> bool:
    template, tokens = node.template, tokenize(node.template)
    if any(flaw.search(template) for flaw in _FLAWS):
        return True
    if not node.slots and (_PRONOUN.match(template) or not _is_specific(tokens)):
        return True
    copular = _COPULAR.match(template)
    return copular is not None and any(_is_second(tokens, at, copular.end()) for at in range(1, len(tokens)))


def _is_second(tokens: list[Token], at: int, copula: int) -> bool:
    """Whether a token is a verb after the copula without a clause of its own: "Who is Ann Lee study in Orm?"."""
    between = [token.low for token in tokens[:at] if token.start >= copula]
    if tokens[at].start < copula or not _OPENS_CLAUSE.isdisjoint(between):
        return False
    if acts(tokens[at]):
        return not (is_participle(tokens[at]) or tokens[at].low.endswith(("ed", "ing")))
    named = tokens[at].small in BASE_VERBS and tokens[at - 1].capital
    return named and any(token.low in PREPOSITIONS for token in tokens[at + 1 : at + 2])


def _is_specific(tokens: list[Token]) -> bool:
    """Whether a look-up is specific enough to identify one thing: a name, or three content words, and no pronoun."""
    rest = tokens[1:]
    if any(token.low in PRONOUNS and token.low not in {"who", "you"} for token in rest[:3]):
        return False
    named = any(token.capital and token.low not in QUESTION_WORDS for token in rest)
    return named or len(content(" ".join(token.text for token in rest))) >= 3
