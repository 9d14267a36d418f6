"""Plans questions about ages and the time between two events, and turns an event into a question about its year."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.nouns import possessive
from iterative_rag.builtin.language.tokens import base_form, is_verb, subject_end, tokenize
from iterative_rag.builtin.question.pairs import second_of
from iterative_rag.builtin.question.plan import Computed, Expand, Node, Operation, Phrase, templates
from iterative_rag.text.patterns import lazy_pattern

_YEARS = lazy_pattern(r"^how (?:many years|long) (?P<order>after|before) (?P<rest>.{6,400})$", re.I)
_BETWEEN = lazy_pattern(
    r"^how many years (?:passed |elapsed |lie |lay |are there |were there |are |is |went by |separate )?(?:between )?"
    r"(?P<first>the .{3,150}?|[A-Z].{3,150}?) (?:and|from(?= (?:that of|the) )) (?P<second>.{3,150})$",
    re.I,
)
_AGE = lazy_pattern(
    r"^(?:how old was|how old were|at what age did|what age was) (?P<who>.{2,150}?) "
    r"(?:when|(?:at|by) the time|at (?=\w+ death$)|die\b)(?! of)(?P<when>.{0,200})$",
    re.I,
)


def years_after(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _YEARS.match(text)
    if match is None:
        return None
    rest = match["rest"]
    # "did" always belongs to the main clause; among several "was", the last one does.
    places = list(re.finditer(r" (did) ", rest)) or list(re.finditer(r" (was|were|is) ", rest))[-1:]
    if not places:
        return None
    first, aux, second = rest[: places[0].start()], places[0][1], rest[places[0].end() :]
    if (late := re.match(r"^(.+) (?:follow|come)$", second)) and (
        event := re.match(r"^.{2,150}? (was|were) (.+)$", first)
    ):
        aux, second = event[1], f"{late[1]} {event[2]}"  # "... after A was opened did B follow": B was opened as well
    owned = re.match(r"(?:his|her|its|their) (?=[a-z]+$)", first)
    if owned:  # "after its completion was the tower sold"
        subject = second[: at.start()] if (at := _SUBJECT_END.search(second)) else ""
        first = f"{possessive(subject)} {first[owned.end() :]}" if subject else first
    names = re.findall(r"(?:[A-Z][\w'’.-]*)(?: (?:[A-Z][\w'’.-]*|\w+(?=$)))*", first)
    if names:
        if first == names[-1]:  # "... after Ann Lee did her husband ..."
            second = re.sub(r"^(?:his|her|its|their) (?:own )?", f"{first}'s ", second, flags=re.I)
        second = re.sub(r"\b(?:it|him|her)\b(?! \w+s?\b(?<=name))", names[-1], second, count=1)
    verb = _has_verb(first)
    if (
        not (verb or owned or is_event(first))
        and aux == "did"
        and (split := re.match(r"(.{2,120}?) ((?:win|die|open|become|marry|receive|get|publish|write)\b.*)$", second))
    ):
        # "How many years after A did B win X?": the verb applies to both.
        ask_first = f"In which year did {first} {split[2]}?"
    else:
        shared = re.search(r" (born|opened|completed|founded|built|published|released)\b[^,]*$", second)
        ask_first = f"In which year was {first} {shared[1]}?" if shared and not verb else ask_year(first)
        if owned or is_event(first):
            ask_first = ask_year(first)
    return Computed(text, Operation.YEARS, (expand(ask_first, first), expand(f"In which year {aux} {second}?", second)))


def years_between(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _BETWEEN.match(text)
    if match is None or not re.match(
        r"how many years (?:passed|elapsed|lie|lay|are|were|went|is|separate|between)", text, re.I
    ):
        return None
    sides = match["first"], second_of(match["first"], match["second"])
    return Computed(text, Operation.YEARS, tuple(expand(ask_year(side), side) for side in sides))


_SUBJECT_END = lazy_pattern(r"(?<=\w) (?=[a-z])(?!of |the |de |von )")
_EVENT_NOUNS = templates("events")
_EVENT_OF = lazy_pattern(rf"^(?:the )?({'|'.join(_EVENT_NOUNS)}) of (.+)$|^(.+)['’]s ({'|'.join(_EVENT_NOUNS)})$")


def is_event(phrase: str) -> bool:
    """Whether a phrase names an event: "the opening of X"."""
    return bool(_EVENT_OF.match(phrase))


def ask_year(clause: str) -> str:
    """The question about the year of an event: "the bridge was opened" -> "In which year was the bridge opened?"."""
    if match := _EVENT_OF.match(clause):
        noun, what = (match[1], match[2]) if match[1] else (match[4], match[3])
        return f"In which year {_EVENT_NOUNS[noun].format(what)}?"
    tokens = tokenize(clause)
    if at := subject_end(tokens):
        verb = tokens[at]
        subject, rest = clause[: verb.start].strip(), clause[verb.end :]
        if verb.low in {"was", "were", "is", "had", "has"}:
            return f"In which year {verb.low} {subject}{rest}?"
        return f"In which year did {subject} {base_form(verb.low) or verb.low}{rest}?"
    return f"In which year was {clause}?"


def _has_verb(clause: str) -> bool:
    return any(is_verb(token) for token in tokenize(clause))


def lifetime(name: str, expand: Expand) -> Node:
    """Plan the age of a person at death."""
    born, died = expand(f"When was {name} born?", name), expand(f"When did {name} die?", name)
    return Computed(name, Operation.YEARS, (born, died), unit="age")


def age(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _AGE.match(text)
    if match is None:
        return None
    who, event = match["who"], match["when"].strip()
    if text.lower().startswith("at what age") or re.fullmatch(r"(?:he|she|they) died|\w+ death", event):
        event = f"{who} died"
    event = re.sub(r"^(?:he|she|they)\b", who, event)
    if not event:
        return None
    ask = (
        f"When did {event.removesuffix(' died')} die?"
        if event.endswith(" died")
        else ask_year(event).replace("In which year", "When", 1)
    )
    return Computed(text, Operation.YEARS, (expand(f"When was {who} born?", who), expand(ask, event)), unit="age")
