"""Questions about plain facts in any wording: what the splitter recognizes in them, and the plan that follows.

"Dawn was directed by somebody; when did that person pass away?" asks what "When did the director of Dawn die?" asks.
The splitter's network classifies such a question by what is asked (ATTRIBUTES), about whom (RELATIONS to the names that
it marks) and how two names are compared; the plan is made from these alone, so that no rule has to know the wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.language.tokens import tokenize
from iterative_rag.builtin.question.plan import (
    Computed,
    Fallback,
    Literal,
    Lookup,
    Node,
    Operation,
    escape_braces,
    templates,
)


class Act(StrEnum):
    """What a question wants to know."""

    OTHER = "other"  # anything that these classes do not express
    LOOKUP = "lookup"  # an attribute of a person, a place or a thing
    EARLIER = "earlier"  # which of two comes first by an attribute
    LATER = "later"  # which of two comes last, or has more of it
    SAME = "same"  # whether two have the same attribute


RELATIONS: Final = templates("relations")
ATTRIBUTES: Final = templates("attributes")
COMPARED: Final = ("birth_date", "death_date", "release", "founding", "lifespan")
SHARED: Final = ("nationality", "located", "birth_place", "birth_year", "occupation", "director", "release_year")
# The classes of each head of the network, in the order of its scores.
HEADS: Final[tuple[tuple[str, ...], ...]] = (
    tuple(act.value for act in Act),
    tuple(ATTRIBUTES),
    tuple(RELATIONS),
    tuple(RELATIONS),
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A question about a plain fact: `relation` leads from a name to a person, `further` from that one to the next.

    `confidence` is the probability, by the network, that all of it is right.
    """

    act: Act
    attribute: str
    relation: str
    further: str
    names: tuple[str, ...]
    confidence: float


def plan_of(wording: Wording, question: str) -> Node | None:
    """The plan of a question; None where the classes do not fit together, or where it asks for one fact plainly."""
    if len(wording.names) != (1 if wording.act is Act.LOOKUP else 2):
        return None
    if wording.act is Act.LOOKUP:
        return _looked_up(wording, question)
    if wording.attribute not in (SHARED if wording.act is Act.SAME else COMPARED):
        return None
    compared = (token.small for token in tokenize(question) if token.small.endswith(("er", "est")))
    measured = any(word in MEASURES for word in compared)
    if wording.act is not Act.SAME and wording.attribute != "lifespan" and measured:
        return None  # what is longer is no matter of dates
    values = tuple(_value(wording, name) for name in wording.names)
    if wording.act is Act.SAME:
        return Computed(question, Operation.SAME, values)
    operation = Operation.LEAST if wording.act is Act.EARLIER else Operation.GREATEST
    return Computed(question, operation, values, labels=tuple(Literal(name) for name in wording.names))


def _looked_up(wording: Wording, question: str) -> Node | None:
    """The look-up by its steps, or whole where these are not trusted; None for a sentence that asks it plainly."""
    (name,) = wording.names
    template = ATTRIBUTES[wording.attribute]
    if not template or not wording.relation:
        return None
    if template.startswith("Who") and question.casefold().startswith(("what did ", "what does ", "what do ")):
        return None  # what somebody's father did is nobody
    steps = _asked(template, wording, name)
    whole = template.replace("{0}", _described(wording, name)) if steps.slots else escape_braces(question)
    return Fallback(question, steps, Lookup(question, whole))


def _described(wording: Wording, name: str) -> str:
    owner = RELATIONS[wording.relation].replace("{0}", escape_braces(name))
    return RELATIONS[wording.further].replace("{0}", owner)


def _value(wording: Wording, name: str) -> Node:
    """The attribute for one of two names."""
    if wording.attribute == "lifespan":
        ends = (_asked(ATTRIBUTES[attribute], wording, name) for attribute in ("birth_date", "death_date"))
        return Computed("", Operation.YEARS, tuple(ends))
    return _asked(ATTRIBUTES[wording.attribute], wording, name)


def _asked(template: str, wording: Wording, name: str) -> Lookup:
    """A look-up about the name, or about the person to whom the relations lead from it."""
    owner: Lookup | None = None
    for relation in (wording.relation, wording.further):
        if relation:
            description = RELATIONS[relation]
            owner = _about(f"Who is {description}?", owner, name, description)
    return _about(template, owner, name)


def _about(template: str, owner: Lookup | None, name: str, description: str = "") -> Lookup:
    if owner is not None:
        return Lookup(description.replace("{0}", owner.source), template, (owner,))
    plain = escape_braces(name)
    return Lookup(description.replace("{0}", plain), template.replace("{0}", plain))
