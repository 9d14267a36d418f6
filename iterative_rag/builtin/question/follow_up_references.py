"""Who and what a follow-up speaks of: what its pronouns, nouns and parts of names stand for."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.given_names import FEMALE, MALE
from iterative_rag.builtin.language.nouns import names_person
from iterative_rag.builtin.question.conversation_names import Kind, Mention, mentions
from iterative_rag.types import Earlier

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
            found = self._person(GENDERS[word])
        elif word.startswith("the"):
            found = self._several()
        else:
            found = next((one for one in self._mentions if one.kind is Kind.THING), None) or next(
                (one for one in self._mentions if one.kind is Kind.OPEN and not one.gender), None
            )
            newest = next((one for one in self._mentions if one.kind is Kind.OPEN), None)
            if found and newest and newest.age < found.age:
                found = newest
        if found is None:
            raise NotUnderstood(f"It is not clear who or what “{word}” is")
        return found

    def _person(self, gender: str) -> Mention | None:
        persons = [one for one in self._mentions if one.kind is Kind.PERSON and one.gender in (gender, "")]
        if not persons:
            return next((one for one in self._mentions if one.kind is Kind.OPEN and not one.gender), None)
        newest = [one for one in persons if one.age == persons[0].age]
        return next((one for one in newest if one.gender == gender), newest[0])

    def _several(self) -> Mention | None:
        """Two persons of one question, an answer of several, or a band and its like."""
        for age in range(len(self._earlier.exchanges)):
            here = [one for one in self._mentions if one.age == age]
            listed = next((one for one in here if one.answered and re.search(r" and |, ", one.text)), None)
            if listed and listed.kind in (Kind.PERSON, Kind.THING, Kind.OPEN):
                return listed
            named = [one for one in here if one.kind is Kind.PERSON and not one.answered]
            persons = [one for one in named if not re.search(r"['’]s? [a-z]|^the [a-z]", one.text)]
            if len(persons) == 1:  # "Who was his wife?": he and the answer
                persons += [one for one in here if one.kind is Kind.PERSON and one.answered]
            if len(persons) > 1:
                joined = " and ".join(one.text for one in sorted(persons, key=self._place))
                return Mention(joined, Kind.PERSON, age=age)
            if group := next((one for one in here if one.kind in (Kind.THING, Kind.OPEN)), None):
                return group
        return None

    def _place(self, one: Mention) -> int:
        """Where it stands in the questions; an answer comes last."""
        places = [exchange.question.find(one.text) for exchange in self._earlier.exchanges]
        return max(places) if max(places) >= 0 else len(self._asked)

    def _of_noun(self, noun: str) -> Mention:
        """What "the novel" or "the director" stands for: what was asked for by that noun or by its verb, or a name that
        it stands before or in. Raises NotUnderstood."""
        stem = re.sub(r"(?:or|er|ist|ress)$", "", noun)
        for one in self._mentions:
            if one.noun == noun or noun.capitalize() in one.text.split():
                return one
        if names_person(noun) and len(stem) > 3:
            for exchange in reversed(self._earlier.exchanges):
                answers = [one for one in self._mentions if one.answered and one.text == exchange.short_answer]
                if answers and re.search(rf"\b{re.escape(stem)}\w*", exchange.question, re.I):
                    return answers[0]
        if not names_person(noun):
            things = [one for one in self._mentions if one.kind is Kind.THING or one.kind is Kind.OPEN]
            if things:
                return things[0]
        raise NotUnderstood(f"It is not clear which {noun} is meant")

    def _named(self, name: str) -> str:
        """The whole of a name of which a part is given ("Niels"); the name itself where none was spoken of."""
        wanted = name.casefold().removeprefix("the ")
        for one in self._mentions:
            possessed = re.search(r"['’]s? [a-z]|^the [a-z]", one.text)
            whole = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", one.text.casefold())
            if whole and not possessed and one.kind is not Kind.TIME:
                return one.text if len(one.text.split()) < 6 else name
        return name
