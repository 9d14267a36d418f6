"""Rewrites a follow-up into a question that stands alone, by the names of the last question and answer: pronouns,
"and X?", "what about X?" and "and in 1956?".

All else is Unclear, and the user is asked for the name: a wrong guess would answer another question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import AUXILIARIES, PREPOSITIONS, QUESTION_WORDS, word_set
from iterative_rag.builtin.language.nouns import (
    FEMALE,
    MALE,
    NOT_PERSON_WORDS,
    PLACES,
    gender_of_name,
    gender_of_noun,
    is_plural,
    names_person,
    possessive,
)
from iterative_rag.builtin.language.tokens import group_end, head_noun, tokenize
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Earlier, Exchange, FollowUpReading, StandAlone, Unclear

_LEAD = lazy_pattern(r"^(?:(?:and|but|so|then|also|ok|okay|well|now)\b,? *)*(?:(?:what|how) about +)?", re.I)
_PRONOUN = lazy_pattern(
    r"\b(?P<word>he|him|his|she|her|it|its|they|them|their|there)\b(?!['’-])(?= (?P<next>[\w-]+)|)", re.I
)
# They point to what no name of the last question tells.
_POINTER = lazy_pattern(r"\b(?:then|else|hers|theirs|(?:this|that|those|these) (?:time|year|day|place|one)s?)\b", re.I)
# "When was the novel published", "how many are there": of what was spoken of.
_DEFINITE = lazy_pattern(
    r"\bthere\b|\b(?:the|this|that) [a-z]+(?=$| (?:is|are|was|were|did|does|has|had|[a-z]+(?:ed|tten|ilt))\b)", re.I
)
_OWNED = lazy_pattern(r"(?P<word>his|her|its|their) (?P<noun>[a-z][a-z -]*)", re.I)
_YEAR, _YEAR_ALONE = lazy_pattern(r"\b\d{4}\b"), lazy_pattern(r"(?:in |the )?(?P<year>\d{4})(?: ones?)?", re.I)
# "La bohème" and its like go on in small letters.
_WORD = r"(?:(?:La|Le|Les|Il|El|Der|Die|Das) [a-zß-ÿ][\w-]*|[A-ZÀ-Þ](?:[\w.-]|['’](?!s?(?!\w)))*)"
_NAME = lazy_pattern(
    rf"(?:\b[Tt]he )?(?:[“\"][^”\"]{{1,120}}[”\"]|"
    rf"(?:\d{{4}} )?{_WORD}(?: (?:(?:of|de|von|van|del|la|the) ){{0,2}}(?:{_WORD}|\d+(?!\w)))*)"
)
# What only a person does or has, beside a name.
_LIVES = lazy_pattern(r" (?:born|die|died|marry|married|live|lived|study|studied)\b")
_KIN = lazy_pattern(r"['’]s? (?P<noun>[a-z-]+)")
_GENDERS = {"he": MALE, "him": MALE, "his": MALE, "she": FEMALE, "her": FEMALE}
_REQUESTS = word_set("tell name give list")
_VALUES = word_set("name nickname title month day")
# Words of a question without a name that stands alone, and of one that begins like a part of another: "and who played
# the drums?", "by how much?"
SHORTEST, SHORTEST_THAT_GOES_ON = 4, 7
_OPENERS = QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | _REQUESTS | word_set("and the")


class _NotUnderstood(Exception):
    """Why a follow-up cannot be rewritten, in one sentence."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name as it stands in a text; `person` is None where the words beside it do not tell."""

    text: str
    start: int = 0
    end: int = 0
    person: bool | None = None
    gender: str = ""
    is_place: bool = False

    def may_be(self, pronoun: str) -> bool:
        if pronoun == "there":
            return self.is_place
        if gender := _GENDERS.get(pronoun):
            return self.person is not False and self.gender in ("", gender)
        return pronoun.startswith("the") or self.person is not True


class RuleFollowUps:
    """Implements protocols.FollowUpReader without a call."""

    def understand(self, follow_up: str, earlier: Earlier) -> FollowUpReading:
        """The question that stands alone; it is never answered here."""
        try:
            text = _Reading(earlier.exchanges[-1]).of(follow_up)
        except _NotUnderstood as error:
            return Unclear(str(error))
        return StandAlone(f"{text[:1].upper()}{text[1:]}?")


class _Reading:
    """The rules, over the last question and its answer."""

    def __init__(self, last: Exchange) -> None:
        self._asked = last.question.strip().rstrip("?.! ")
        self._names = _names(self._asked)
        self._answer = _answer(last)

    def of(self, follow_up: str) -> str:
        """The question that stands alone. Raises _NotUnderstood."""
        text = re.sub(r"\s+", " ", follow_up).strip(" ,.?!")
        bare = _LEAD.sub("", text)
        if _POINTER.search(bare):
            raise _NotUnderstood("It points to something without naming it")
        words = bare.casefold().split()
        if words and words[0] in PREPOSITIONS:  # "in which year"
            words = words[1:]
        if len(words) > 1 and words[0] in QUESTION_WORDS | AUXILIARIES | _REQUESTS:
            named = _PRONOUN.sub(self._named, bare)
            shortest = SHORTEST_THAT_GOES_ON if bare != text or len(words) < len(bare.split()) else SHORTEST
            if named == bare and not _names(bare) and (len(words) < shortest or _DEFINITE.search(bare)):
                raise _NotUnderstood("It names nobody and nothing")
            return named
        if bare != text or follow_up.rstrip().endswith("?"):
            return self._ellipsis(bare)
        raise _NotUnderstood("It is not a question")

    def _named(self, match: re.Match[str]) -> str:
        """The name that a pronoun stands for; the pronoun itself where it belongs to a name of its own question."""
        word, after = match["word"].casefold(), (match["next"] or "").casefold()
        owns = word in ("his", "its", "their") or (word == "her" and bool(after) and after not in _OPENERS)
        before = match.string[: match.start()]
        follows = before.casefold().split()[-1:]
        if word == "there" and AUXILIARIES.intersection(follows):
            return match[0]
        if any(name.may_be(word) for name in _names(before)):
            if owns or word in ("he", "she"):
                return match[0]
            raise self._unclear(word)
        meant = self._meant(word).text
        if word == "there" and not PREPOSITIONS.intersection(follows):
            return f"in {meant}"
        return possessive(meant) if owns else meant

    def _meant(self, word: str) -> _Name:
        """The newest name that a pronoun fits. Raises _NotUnderstood where it is none or more than one."""
        asked = [name for name in self._names if name.may_be(word)]
        if word in ("they", "them", "their"):
            named = [*asked, self._answer] if self._answer else asked
            people = dict.fromkeys(name.text for name in named if name.person and not _KIN.search(name.text))
            if len(people) == 2:
                return _Name(" and ".join(people))
            if people:
                raise self._unclear(word)
        if self._answer and self._answer.may_be(word):
            asked = [self._answer]
        if word in _GENDERS:
            asked = [name for name in asked if name.gender] or asked
        if len(asked) != 1 or (word in _GENDERS and not asked[0].person):
            raise self._unclear(word)
        return asked[0]

    def _unclear(self, word: str) -> _NotUnderstood:
        return _NotUnderstood(f"It is not clear who or what “{word}” is")

    def _ellipsis(self, said: str) -> str:
        """The last question with what is said in the place of the only name, or year, that it can replace."""
        years = list(_YEAR.finditer(self._asked))
        if (year := _YEAR_ALONE.fullmatch(said)) and len(years) == 1:
            return f"{self._asked[: years[0].start()]}{year['year']}{self._asked[years[0].end() :]}"
        if owned := _OWNED.fullmatch(said):
            owner, noun = self._meant(owned["word"].casefold()), owned["noun"]
            held = f"{possessive(owner.text)} {noun}"
            if owner is self._answer and names_person(noun.split()[-1]):
                return f"Who {'were' if is_plural(noun) else 'was'} {held}"
            raise _NotUnderstood(f"It is not clear what about {held} is asked; ask the whole question")
        new, old = _names(f"- {said}"), [name for name in self._names if not _KIN.search(name.text)]
        if len(new) != 1 or new[0].text != said or len(old) != 1 or {new[0].person, old[0].person} == {True, False}:
            raise _NotUnderstood("It is not clear what it takes the place of; ask the whole question with the name")
        return f"{self._asked[: old[0].start]}{said}{self._asked[old[0].end :]}"


def _names(text: str) -> list[_Name]:
    """The names of a question, with "the" where it stands before one; "Ann Lee's husband" is a name beside hers."""
    names = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        if start == 0 and (opener := re.match(r"[\w]+", text)) and opener[0].casefold() in _OPENERS:
            start = min(opener.end() + 1, end)
        name = text[start:end].rstrip(".")
        gender, kin = gender_of_name(name), _KIN.match(text, end)
        relative = kin is not None and names_person(kin["noun"])
        if kin and relative:
            names.append(_Name(f"{name}{kin[0]}", start, kin.end(), True, gender_of_noun(kin["noun"])))
        person = True if gender or relative or _LIVES.match(text, end) else None
        if re.match(r"[Tt]he |[“\"]|\d", name) or any(word.casefold() in NOT_PERSON_WORDS for word in name.split()):
            person, gender = False, ""
        if name:
            names.append(_Name(name, start, start + len(name), person, gender))
    return names


def _answer(exchange: Exchange) -> _Name | None:
    """The name that was answered, None where that is a value; what was asked for tells whether it is a person."""
    answer, asked = exchange.short_answer.strip(" ."), tokenize(exchange.question)
    at = next((index for index, token in enumerate(asked) if token.low in QUESTION_WORDS), len(asked)) + 1
    word = asked[at - 1].low if at <= len(asked) else ""
    while at < len(asked) and (asked[at].low in AUXILIARIES or asked[at].low in ("the", "a", "an")):
        at += 1
    noun = head_noun(asked[at : group_end(asked, at, len(asked))]) if word != "where" else ""
    if not answer[:1].isupper() or re.search(r"\d", answer) or word in ("when", "how", "why") or noun in _VALUES:
        return None
    gender = gender_of_noun(noun) or gender_of_name(answer)
    person = word in ("who", "whom") or names_person(noun) or (None if not noun and word != "where" else False)
    if person and re.search(r", | and ", answer):
        return None
    return _Name(answer, person=person, gender=gender, is_place=word == "where" or noun in PLACES)
