"""What a follow-up may speak of: the names in the questions and answers before it, what kind of thing each is, and
which of them its pronouns, nouns and parts of names stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.builtin.language.function_words import AUXILIARIES, MONTHS, QUESTION_WORDS, word_set
from iterative_rag.builtin.language.nouns import (
    FEMALE,
    MALE,
    NOT_PERSON_WORDS,
    gender_of_name,
    gender_of_noun,
    names_person,
)
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Earlier, Exchange, Fact


class Kind(StrEnum):
    """What a name stands for, as far as the words around it tell."""

    PERSON = "person"
    THING = "thing"
    TIME = "time"
    NUMBER = "number"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Mention:
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
_POSSESSED = lazy_pattern(r"['’]s? (?P<noun>(?:[a-z-]+ )?[a-z-]+)\b")
_OF = lazy_pattern(r"\b(?:the|which) (?P<noun>[a-z-]+) of $")
_ASKED = lazy_pattern(
    r"^(?:(?:in|on|at|from|of|through|to|by) )?(?P<word>who|whom|what|which|when|where|how|why)\b(?: (?P<rest>.*))?",
    re.I,
)
_COPULA = lazy_pattern(r"^(?:is|was|are|were) (?:the |a )?(?P<noun>.+)")
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
_DATE = lazy_pattern(rf"(?i)\d|(?:{'|'.join(MONTHS)})\b")
_HE, _SHE = lazy_pattern(r"\b(?:he|his|him)\b", re.I), lazy_pattern(r"\b(?:she|her|hers)\b", re.I)


def mentions(earlier: Earlier) -> list[Mention]:
    """All that was spoken of, the newest first; within an exchange the answer, then the names of the question."""
    by_name: dict[str, Mention] = {}
    for age, exchange in enumerate(reversed(earlier.exchanges)):
        for mention in _of_exchange(exchange, age, earlier.facts):
            key = mention.text.removeprefix("the ").casefold()
            before = by_name.get(key)
            if before is None:
                by_name[key] = mention
            elif before.kind is Kind.OPEN and mention.kind is not Kind.OPEN:  # an older exchange told what it is
                by_name[key] = Mention(
                    before.text, mention.kind, before.gender or mention.gender, mention.noun, before.age
                )
    return list(by_name.values())


def _of_exchange(exchange: Exchange, age: int, facts: Sequence[Fact]) -> Iterator[Mention]:
    noun, kind = asked_kind(exchange.question)
    answer = exchange.short_answer.strip(" .")
    if answer:
        yield _answer(answer, noun, kind, age, facts)
    yield from _possessed(exchange.question, age)
    for name in names_in(exchange.question):
        yield _named(name, exchange.question, age, facts)


def _answer(answer: str, noun: str, kind: Kind, age: int, facts: Sequence[Fact]) -> Mention:
    if kind is Kind.OPEN and _DATE.match(answer):
        kind = Kind.TIME if re.search(r"\b\d{4}\b", answer) else Kind.NUMBER
    gender = (gender_of_noun(noun) or gender_of_name(answer) or _told(answer, facts)) if kind is not Kind.THING else ""
    if kind is Kind.OPEN and gender:
        kind = Kind.PERSON
    article = "the " if noun == "river" and not answer.casefold().startswith(("the ", "river ")) else ""
    return Mention(f"{article}{answer}", kind, gender, noun, age, answered=True)


def _named(name: str, question: str, age: int, facts: Sequence[Fact]) -> Mention:
    before = question[: question.find(name)].rstrip()
    last = before.rsplit(" ", 1)[-1].casefold()
    bare = name.removeprefix("the ")
    gender = gender_of_name(bare) or _told(bare, facts)
    kind = Kind.PERSON if gender else Kind.OPEN
    is_place = any(word.casefold() in NOT_PERSON_WORDS for word in bare.split())
    if is_place or re.search(r"\d", bare) or last in _THING_NOUNS or name.startswith(("“", '"')):
        kind, gender = Kind.THING, ""
    elif not gender and (name.startswith("the ") or _MADE.search(before)):
        kind = Kind.THING
    return Mention(name, kind, gender, last if last in _THING_NOUNS else "", age)


def _possessed(question: str, age: int) -> Iterator[Mention]:
    """ "Marie Curie's husband" and "the husband of Marie Curie", where the noun names a person."""
    for name in names_in(question):
        end = question.find(name) + len(name)
        after, before = _POSSESSED.match(question[end:]), _OF.search(question[: question.find(name)])
        if after:
            words = after["noun"].split()
            noun = next((word for word in reversed(words) if names_person(word)), "")
            if noun:
                held = question[end : end + after.start("noun")] + " ".join(words[: words.index(noun) + 1])
                yield Mention(f"{name}{held}", Kind.PERSON, gender_of_noun(noun), noun, age)
        elif before and names_person(before["noun"]):
            yield Mention(
                f"the {before['noun']} of {name}", Kind.PERSON, gender_of_noun(before["noun"]), before["noun"], age
            )


def names_in(text: str) -> list[str]:
    """The names in a question, with "the" where it stands before one; no word for its capital at the beginning."""
    names = []
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        if start == 0:
            first, _, rest = name.partition(" ")
            if first.casefold() in _OPENERS:
                name, start = rest.strip(), start + len(first) + 1
        name = re.sub(r"['’]s?$", "", name).rstrip(".") if not name.endswith(("Jr.", "Sr.")) else name
        if not name or name.casefold() in _NO_NAMES:
            continue
        names.append(f"the {name}" if text[:start].endswith(("the ", "The ")) else name)
    return names


def asked_kind(question: str) -> tuple[str, Kind]:
    """The noun that a question asks for ("river" of "Which river ...?"), "" if none, and the kind of its answer."""
    match = _ASKED.match(question)
    if match is None:
        return "", Kind.OPEN
    word, rest = match["word"].casefold(), match["rest"] or ""
    if word in ("who", "whom"):
        copula = _COPULA.match(rest)
        return (_head(copula["noun"]) if copula else ""), Kind.PERSON
    if word == "when":
        return "", Kind.TIME
    if word in ("how", "why"):
        return "", Kind.NUMBER
    if word == "where":
        return "place", Kind.THING
    copula = _COPULA.match(rest)
    noun = _head(copula["noun"]) if copula else _head(rest)
    if noun in ("year", "date", "day", "month", "century"):
        return noun, Kind.TIME
    if noun in ("name", "nickname"):
        return noun, Kind.NUMBER  # a name for somebody who is spoken of, and nobody else
    if names_person(noun):
        return noun, Kind.PERSON
    return noun, Kind.THING if noun else Kind.OPEN


def _head(phrase: str) -> str:
    """The noun of a phrase: the last word before a verb, a preposition or a name; "Ann Lee's real name" -> "name"."""
    phrase = re.sub(r"^.*?['’]s? (?=[a-z])", "", phrase)
    noun = ""
    for word in re.findall(r"[\w-]+|[^\w\s]", phrase):
        if not word[0].islower() or word in _ENDS or (noun and word.endswith(("ed", "s"))):
            break
        noun = word
    return noun


_ENDS = AUXILIARIES | word_set("of in on at by from for with to into that who which won wrote led made flows ran lies")


def _told(name: str, facts: Sequence[Fact]) -> str:
    """The gender that quotes about somebody tell, where they hold only "he" or only "she"."""
    quotes = " ".join(fact.quote for fact in facts if fact.title.casefold() == name.casefold())
    he, she = bool(_HE.search(quotes)), bool(_SHE.search(quotes))
    return MALE if he and not she else FEMALE if she and not he else ""


GENDERS = {"he": MALE, "him": MALE, "his": MALE, "she": FEMALE, "her": FEMALE, "hers": FEMALE}


class NotUnderstood(Exception):
    """Why a follow-up cannot be rewritten, in one sentence."""


class References:
    """What was spoken of before, looked up by the words of a follow-up."""

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier
        self._last = earlier.exchanges[-1]
        self._asked = self._last.question.strip().rstrip("?.! ")
        self._mentions = mentions(earlier)

    def _meant(self, word: str) -> Mention:
        """What a pronoun stands for. Raises NotUnderstood."""
        word = word.casefold()
        if word in GENDERS:
            meant = self._person(GENDERS[word])
        elif word.startswith("the"):
            meant = self._several()
        else:
            meant = next((mention for mention in self._mentions if mention.kind is Kind.THING), None) or next(
                (mention for mention in self._mentions if mention.kind is Kind.OPEN and not mention.gender), None
            )
            newest = next((mention for mention in self._mentions if mention.kind is Kind.OPEN), None)
            if meant and newest and newest.age < meant.age:
                meant = newest
        if meant is None:
            raise NotUnderstood(f"It is not clear who or what “{word}” is")
        return meant

    def _person(self, gender: str) -> Mention | None:
        persons = [person for person in self._mentions if person.kind is Kind.PERSON and person.gender in (gender, "")]
        if not persons:
            return next(
                (mention for mention in self._mentions if mention.kind is Kind.OPEN and not mention.gender), None
            )
        newest = [person for person in persons if person.age == persons[0].age]
        return next((person for person in newest if person.gender == gender), newest[0])

    def _several(self) -> Mention | None:
        """Two persons of one question, an answer of several, or a band and its like."""
        for age in range(len(self._earlier.exchanges)):
            here = [mention for mention in self._mentions if mention.age == age]
            listed = next(
                (mention for mention in here if mention.answered and re.search(r" and |, ", mention.text)), None
            )
            if listed and listed.kind in (Kind.PERSON, Kind.THING, Kind.OPEN):
                return listed
            named = [person for person in here if person.kind is Kind.PERSON and not person.answered]
            persons = [person for person in named if not re.search(r"['’]s? [a-z]|^the [a-z]", person.text)]
            if len(persons) == 1:  # "Who was his wife?": he and the answer
                persons += [person for person in here if person.kind is Kind.PERSON and person.answered]
            if len(persons) > 1:
                joined = " and ".join(person.text for person in sorted(persons, key=self._place))
                return Mention(joined, Kind.PERSON, age=age)
            if group := next((mention for mention in here if mention.kind in (Kind.THING, Kind.OPEN)), None):
                return group
        return None

    def _place(self, mention: Mention) -> int:
        """Where it stands in the questions; an answer comes last."""
        places = [exchange.question.find(mention.text) for exchange in self._earlier.exchanges]
        return max(places) if max(places) >= 0 else len(self._asked)

    def _of_noun(self, noun: str) -> Mention:
        """What "the novel" or "the director" stands for: what was asked for by that noun or by its verb, or a name that
        it stands before or in. Raises NotUnderstood."""
        stem = re.sub(r"(?:or|er|ist|ress)$", "", noun)
        for mention in self._mentions:
            if mention.noun == noun or noun.capitalize() in mention.text.split():
                return mention
        if names_person(noun) and len(stem) > 3:
            for exchange in reversed(self._earlier.exchanges):
                answers = [
                    mention for mention in self._mentions if mention.answered and mention.text == exchange.short_answer
                ]
                if answers and re.search(rf"\b{re.escape(stem)}\w*", exchange.question, re.I):
                    return answers[0]
        if not names_person(noun):
            things = [mention for mention in self._mentions if mention.kind is Kind.THING or mention.kind is Kind.OPEN]
            if things:
                return things[0]
        raise NotUnderstood(f"It is not clear which {noun} is meant")

    def _named(self, name: str) -> str:
        """The whole of a name of which a part is given ("Niels"); the name itself where none was spoken of."""
        wanted = name.casefold().removeprefix("the ")
        for mention in self._mentions:
            possessed = re.search(r"['’]s? [a-z]|^the [a-z]", mention.text)
            whole = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", mention.text.casefold())
            if whole and not possessed and mention.kind is not Kind.TIME:
                return mention.text if len(mention.text.split()) < 6 else name
        return name
