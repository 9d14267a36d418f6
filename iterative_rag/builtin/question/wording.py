"""Questions about plain facts in any wording: what the splitter recognizes in them, and the plan that follows.

"Dawn was directed by somebody; when did that person pass away?" asks what "When did the director of Dawn die?" asks.
The splitter's network classifies such a question by what is asked (ATTRIBUTES), about whom (RELATIONS to the names that
it marks) and how two names are compared; the plan is made from these alone, so that no rule has to know the wording.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, Node, Operation, escape_braces
from iterative_rag.text.patterns import lazy_pattern


class Act(StrEnum):
    """What a question wants to know."""

    OTHER = "other"  # anything that these classes do not express
    LOOKUP = "lookup"  # an attribute of a person, a place or a thing
    EARLIER = "earlier"  # which of two comes first by an attribute
    LATER = "later"  # which of two comes last, or has more of it
    SAME = "same"  # whether two have the same attribute


# How a person stands to a work or to another person, as a description; the first is the named one itself.
RELATIONS: Final = {
    "": "{0}",
    "director": "the director of {0}",
    "performer": "the performer of {0}",
    "composer": "the composer of {0}",
    "author": "the author of {0}",
    "producer": "the producer of {0}",
    "founder": "the founder of {0}",
    "architect": "the designer of {0}",  # of buildings and of anything else
    "inventor": "the inventor of {0}",
    "screenwriter": "the screenwriter of {0}",
    "father": "{0}'s father",
    "mother": "{0}'s mother",
    "spouse": "{0}'s spouse",
    "son": "{0}'s son",
    "daughter": "{0}'s daughter",
    "brother": "{0}'s brother",
    "sister": "{0}'s sister",
}
ATTRIBUTES: Final = {
    "birth_date": "When was {0} born?",
    "birth_place": "Where was {0} born?",
    "death_date": "When did {0} die?",
    "death_place": "Where did {0} die?",
    "death_cause": "What is the cause of death of {0}?",
    "burial_place": "Where is {0} buried?",
    "nationality": "What nationality is {0}?",
    "spouse": "Who is the spouse of {0}?",
    "father": "Who is the father of {0}?",
    "mother": "Who is the mother of {0}?",
    "birth_year": "In which year was {0} born?",
    "death_year": "In which year did {0} die?",
    "birth_country": "In which country was {0} born?",
    "child": "Who is the child of {0}?",
    "son": "Who is the son of {0}?",
    "daughter": "Who is the daughter of {0}?",
    "sibling": "Who is the sibling of {0}?",
    "brother": "Who is the brother of {0}?",
    "sister": "Who is the sister of {0}?",
    "school": "Where did {0} study?",
    "university": "Which university did {0} attend?",
    "award": "What award did {0} win?",
    "employer": "Where did {0} work?",
    "occupation": "What is the occupation of {0}?",
    "release": "When did {0} come out?",
    "founding": "When was {0} founded or published?",
    "lifespan": "",  # the years between birth and death
    "located": "In which country is {0}?",
    "director": "Who is the director of {0}?",
    "release_year": "In which year did {0} come out?",
}
COMPARED: Final = ("birth_date", "death_date", "release", "founding", "lifespan")
SHARED: Final = ("nationality", "located", "birth_place", "birth_year", "occupation", "director", "release_year")
# The classes of each head of the network, in the order of its scores.
HEADS: Final[tuple[tuple[str, ...], ...]] = (
    tuple(act.value for act in Act),
    tuple(ATTRIBUTES),
    tuple(RELATIONS),
    tuple(RELATIONS),
)
# The name stands before the question: "Ann Lee was a painter. Where did she die?", "Ann Lee: when was she born?"
_REFERS_BACK: Final = lazy_pattern(r"\w[.;:,] .*\b(?:he|she|they|his|her|their|that|this)\b", re.I)


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
    values = tuple(_value(wording, name) for name in wording.names)
    if wording.act is Act.SAME:
        return Computed(question, Operation.SAME, values)
    operation = Operation.LEAST if wording.act is Act.EARLIER else Operation.GREATEST
    return Computed(question, operation, values, labels=tuple(Literal(name) for name in wording.names))


def _looked_up(wording: Wording, question: str) -> Node | None:
    """The look-up by its steps, or whole where these are not trusted; None for a sentence that asks it plainly."""
    (name,) = wording.names
    template = ATTRIBUTES[wording.attribute]
    if not template or not (wording.relation or _REFERS_BACK.search(question)):
        return None
    steps = _asked(template, wording, name)
    whole = template.replace("{0}", _described(wording, name)) if steps.slots else escape_braces(question)
    return Fallback(question, steps, Lookup(question, whole))


def _described(wording: Wording, name: str) -> str:
    owner = RELATIONS[wording.relation].replace("{0}", escape_braces(name))
    return RELATIONS[wording.further].replace("{0}", owner)


def _value(wording: Wording, name: str) -> Node:
    """The attribute for one of two names."""
    if wording.attribute == "lifespan":
        ends = (_asked(ATTRIBUTES[one], wording, name) for one in ("birth_date", "death_date"))
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
