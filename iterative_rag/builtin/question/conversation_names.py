"""What a follow-up may speak of: the names in the questions and answers before it, and what kind of thing each is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from iterative_rag.builtin.language.function_words import AUXILIARIES, MONTHS, QUESTION_WORDS, word_set
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS, gender_of_name, gender_of_noun, names_person
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Earlier, Exchange


class Kind(StrEnum):
    """What a name stands for, as far as the words around it tell."""

    PERSON = "person"
    THING = "thing"
    TIME = "time"
    VALUE = "value"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Referent:
    """Something that was spoken of: how it is put into a question, its kind, its gender ("" if unknown), and the noun
    that it was asked for by ("river"). `age` counts exchanges back, from 0; `answered`: it is the answer of its
    exchange."""

    text: str
    kind: Kind
    gender: str = ""
    noun: str = ""
    age: int = 0
    answered: bool = False


# "La bohème" and its like go on in small letters.
_WORD = r"(?:La|Le|Les|Il|El|Der|Die|Das) [a-zß-ÿ][\w’'-]*|[A-ZÀ-Þ][\w.’'-]*[\w.]|[A-ZÀ-Þ]"
_NAME = lazy_pattern(
    rf"[“\"][^”\"]{{1,120}}[”\"]"
    rf"|(?:\d{{4}} )?(?:{_WORD})(?: (?:(?:of|de|von|van|del|la|the) )?(?:(?:{_WORD})|\d+)(?!\w))*"
)
_POSSESSED = lazy_pattern(r"['’]s? (?P<noun>[a-z-]+)\b")
_ASKED = lazy_pattern(
    r"^(?:(?:in|on|at|from|of|through|to|by) )?(?P<word>who|whom|what|which|when|where|how|why)\b"
    r"(?: (?:is|was|are|were) (?:the |a )?| )?(?P<rest>.*)",
    re.I,
)
_KINDS = {
    "who": Kind.PERSON,
    "whom": Kind.PERSON,
    "when": Kind.TIME,
    "where": Kind.THING,
    "how": Kind.VALUE,
    "why": Kind.VALUE,
}
# A verb of making: what it has made is a thing, whatever its name.
_MADE = lazy_pattern(
    r"\b(?:direct|compos|design|buil|paint|publish|record|discover|invent|produc|releas|open|construct|flow|host|play)"
    r"\w*(?: (?:the|a|by|through|into))*$|\b(?:wrote|written|sang|made|climbed|in|through|into|to|from|at|on|near)"
    r"(?: the)?$"
)
_THING_NOUNS = word_set(
    "novel book film movie album song opera musical play painting symphony bridge building tower river city town "
    "country island mountain lake band team company university ship element game games house museum"
)
_NO_NAMES = QUESTION_WORDS | word_set("yes no i")
# Words that have a capital only because a question begins with them.
_OPENERS = _NO_NAMES | AUXILIARIES | word_set("in on at from of through to by for and tell name give the")
_ENDS = AUXILIARIES | word_set("of in on at by from for with to into that who which won wrote led made flows ran lies")
_DATE = lazy_pattern(rf"(?i)\d|(?:{'|'.join(MONTHS)})\b")


def referents(earlier: Earlier) -> list[Referent]:
    """All that was spoken of, the newest first; within an exchange the answer, then the names of the question."""
    by_name: dict[str, Referent] = {}
    for age, exchange in enumerate(reversed(earlier.exchanges)):
        for referent in _of_exchange(exchange, age):
            key = referent.text.removeprefix("the ").casefold()
            before = by_name.setdefault(key, referent)
            if before.kind is Kind.OPEN:  # an older exchange may tell what it is
                gender, noun = before.gender or referent.gender, referent.noun
                by_name[key] = replace(before, kind=referent.kind, gender=gender, noun=noun)
    return list(by_name.values())


def _of_exchange(exchange: Exchange, age: int) -> Iterator[Referent]:
    question, answer = exchange.question, exchange.short_answer.strip(" .")
    if answer:
        yield replace(_answer(answer, question), age=age, answered=True)
    for name in names_in(question):
        start = question.find(name)
        held = _POSSESSED.match(question, start + len(name))
        if held and names_person(held["noun"]):  # "Marie Curie's husband"
            yield Referent(f"{name}{held[0]}", Kind.PERSON, gender_of_noun(held["noun"]), held["noun"], age)
        yield replace(_named(name, question[:start].rstrip()), age=age)


def _answer(answer: str, question: str) -> Referent:
    noun, kind = _asked_for(question)
    if kind is Kind.OPEN and _DATE.match(answer):
        kind = Kind.TIME
    gender = (gender_of_noun(noun) or gender_of_name(answer)) if kind is not Kind.THING else ""
    article = "the " if noun == "river" and not answer.casefold().startswith(("the ", "river ")) else ""
    return Referent(f"{article}{answer}", Kind.PERSON if kind is Kind.OPEN and gender else kind, gender, noun)


def _named(name: str, before: str) -> Referent:
    """A name of a question, with the words before it."""
    bare, last = name.removeprefix("the "), before.rsplit(" ", 1)[-1].casefold()
    gender = gender_of_name(bare)
    is_place = any(word.casefold() in NOT_PERSON_WORDS for word in bare.split())
    made = not gender and (name.startswith("the ") or _MADE.search(before))
    if made or is_place or re.search(r"\d", bare) or last in _THING_NOUNS or name.startswith(("“", '"')):
        return Referent(name, Kind.THING, noun=last if last in _THING_NOUNS else "")
    return Referent(name, Kind.PERSON if gender else Kind.OPEN, gender)


def names_in(text: str) -> list[str]:
    """The names in a question, with "the" where it stands before one; no word for its capital at the beginning."""
    names = []
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        first, _, rest = name.partition(" ")
        if start == 0 and first.casefold() in _OPENERS:
            name, start = rest.strip(), start + len(first) + 1
        name = re.sub(r"['’]s?$", "", name).rstrip(".") if not name.endswith(("Jr.", "Sr.")) else name
        if name and name.casefold() not in _NO_NAMES:
            names.append(f"the {name}" if text[:start].endswith(("the ", "The ")) else name)
    return names


def _asked_for(question: str) -> tuple[str, Kind]:
    """The noun that a question asks for ("river" of "Which river ...?"), "" if none, and the kind of its answer."""
    match = _ASKED.match(question)
    if match is None:
        return "", Kind.OPEN
    noun, kind = _head(match["rest"]), _KINDS.get(match["word"].casefold())
    if kind:
        return noun if kind is Kind.PERSON else "", kind
    if noun in ("year", "date", "day", "month", "century"):
        return noun, Kind.TIME
    if noun in ("name", "nickname"):
        return noun, Kind.VALUE  # a name for somebody who is spoken of, and nobody else
    return noun, Kind.PERSON if names_person(noun) else Kind.THING if noun else Kind.OPEN


def _head(phrase: str) -> str:
    """The noun of a phrase: the last word before a verb, a preposition or a name; "Ann Lee's real name" -> "name"."""
    noun = ""
    for word in re.findall(r"[\w-]+|[^\w\s]", re.sub(r"^.*?['’]s? (?=[a-z])", "", phrase)):
        if not word[0].islower() or word in _ENDS or (noun and word.endswith(("ed", "s"))):
            break
        noun = word
    return noun
