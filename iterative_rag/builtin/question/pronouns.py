"""Rewrites a question of several sentences as one, by resolving the coreference of its last sentence."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import PREPOSITIONS, RELATIVES
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS, names_person, possessive
from iterative_rag.builtin.language.tokens import Token, head_noun, is_verb, tokenize
from iterative_rag.builtin.question.descriptions import description_at
from iterative_rag.text.patterns import lazy_pattern

_STOP = lazy_pattern(r"(?<=[\w)\"”’'])(?<!\b[A-Z])(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!Mrs)(?<!\bJr)[.!] (?=[A-Z])")
_PERSON = lazy_pattern(r"\b(he|she|him|his|her|hers)\b", re.I)
_THING = lazy_pattern(r"\b(it|its|they|their|them)\b", re.I)
_POINTED = lazy_pattern(r"\b(?:this|that|the same) (?P<noun>(?!year\b|time\b|day\b)[a-z]+)\b(?P<own>['’]s)?", re.I)
_NAME = r"[A-Z][\w.'’-]*(?: (?:of )?[A-Z][\w.'’-]*)*"
_OWNED = frozenset({"his", "her", "its", "their"})
# Verbs that only identify the subject.
_COPULA = frozenset({"is", "was", "are", "were"})


def one_sentence(text: str) -> str:
    """Merge sentences: "X led a film about Y. Who wrote its music" -> "Who wrote the music of the film ..."."""
    places = [match.start() for match in _STOP.finditer(text)]
    if not places:
        return text
    first, question = text[: places[-1]], text[places[-1] + 1 :].strip()
    before = [match.end() for match in _STOP.finditer(first)]
    first = first[before[-1] :] if before else first
    if asked := _identity(first, question):
        return asked
    for pattern, wanted in ((_POINTED, ""), (_PERSON, "person"), (_THING, "thing")):
        match = pattern.search(question)
        if match is None:
            continue
        noun = match["noun"].lower() if wanted == "" else wanted
        if meant := _antecedent(first, noun, person=wanted == "person" or names_person(noun)):
            return _put(question, match, meant, pattern is _POINTED)
    return text


_IDENTITY = lazy_pattern(
    r"^(?:what|which) (?:(?:is|was) (?:this|that|the) (?P<noun>[a-z]+)(?: called| named|['’]s name)?"
    r"|(?:is|was) the name of (?:this|that|the) (?P<named>[a-z]+)|(?P<which>[a-z]+) (?:is|was) "
    r"(?:it|this|that|meant))$",
    re.I,
)


def _identity(first: str, question: str) -> str:
    """ "X led a revolt in Orm. What is this revolt called" -> "X led which revolt in Orm"; "" for other questions."""
    match = _IDENTITY.match(question)
    noun = match and (match["noun"] or match["named"] or match["which"])
    place = re.search(rf"\b(?:an?|one) ((?:[\w-]+ ){{0,2}}?{re.escape(noun)})\b", first) if noun else None
    return f"{first[: place.start()]}which {place[1]}{first[place.end() :]}" if place else ""


def _put(question: str, match: re.Match[str], meant: str, pointed: bool) -> str:
    own = bool(match["own"]) if pointed else _possessive(question, match)
    rest = question[match.end() :]
    if own and (owned := re.match(r" ((?:[a-z]+ )*?[a-z]+)(?=$|[ ,?](?!of\b))", rest)) and " " in meant:
        last = _owned_noun(rest)
        if last:
            return f"{question[: match.start()]}the {last} of {meant}{rest[len(last) + 1 :]}"
        return f"{question[: match.start()]}the {owned[1]} of {meant}{rest[owned.end() :]}"
    return f"{question[: match.start()]}{possessive(meant) if own else meant}{rest}"


def _owned_noun(rest: str) -> str:
    """The noun group right after "its", up to the next verb or preposition."""
    tokens = tokenize(rest)
    end = 0
    while end < len(tokens) and tokens[end].word and not is_verb(tokens[end]) and tokens[end].low not in PREPOSITIONS:
        end += 1
    return rest[tokens[0].start : tokens[end - 1].end] if end else ""


def _possessive(question: str, match: re.Match[str]) -> bool:
    low = match[1].lower()
    if low not in _OWNED:
        return False
    after = re.match(r" ([\w-]+)", question[match.end() :])
    return low != "her" or (after is not None and after[1].lower() not in PREPOSITIONS)


def _antecedent(sentence: str, noun: str, *, person: bool) -> str:
    """The antecedent in a sentence, "" if there is none. `noun` is "person", "thing" or the noun that refers to it."""
    tokens = tokenize(sentence)
    subject_end = _subject_end(tokens)
    if not subject_end:
        return ""
    subject = sentence[: tokens[subject_end - 1].end].rstrip(" ,")
    subject = subject[0].lower() + subject[1:] if subject.startswith(("The ", "A ", "An ")) else subject
    subject = re.sub(r"^an? ", "the ", subject)
    verb, rest = tokens[subject_end], sentence[tokens[subject_end].end :].strip()
    head = head_noun(tokens[:subject_end])
    named = noun in {"person", "thing"}
    thing = re.match(r"^(?:an?|the) (?P<what>(?:[\w-]+ )*?[a-z]+)\b", rest)
    if partner := re.search(rf"({_NAME}) and (?:an?|his|her|their) (?:[a-z]+ )?{re.escape(noun)}\b", sentence):
        return f"{partner[1]}'s {noun}"
    if verb.low in _COPULA and re.match(r"(?:an?|the) ", rest):
        return subject  # "X is a town": any noun refers to X
    if not named and head == noun:
        return subject
    if thing and (made := _object(sentence, subject, verb, rest, noun)):
        person_made = names_person(made[1])
        if (not named and made[1] == noun) or (named and not person and not person_made):
            return made[0]
    is_thing = not head or any(word in NOT_PERSON_WORDS for word in subject.lower().split())
    if person:
        return "" if is_thing and any(word in NOT_PERSON_WORDS for word in subject.lower().split()) else subject
    if not named and not is_thing and (named_object := re.match(rf"(?:the )?{_NAME}", rest)):
        return named_object[0]  # "X led Dawn. ... this film"
    return subject


def _object(sentence: str, subject: str, verb: Token, rest: str, noun: str) -> tuple[str, str] | None:
    """The object as a description, with its head noun: "X led a film about Y" -> "the film that X led about Y"."""
    if verb.low in _COPULA or re.match(r"an? ", rest) is None:
        return None
    tokens = tokenize(rest)
    end = 1
    while end < len(tokens) and tokens[end].word and tokens[end].low not in PREPOSITIONS | RELATIVES:
        if is_verb(tokens[end]):
            break
        end += 1
    head = head_noun(tokens[1:end])
    if end < 2:
        return None
    noun, more = rest[tokens[1].start : tokens[end - 1].end], rest[tokens[end - 1].end :].rstrip(" .,")
    joint = "who" if names_person(head) else "that"
    if any(token.low in RELATIVES for token in tokens[end : end + 2]):
        return f"the {noun}{more}", head  # its own relative clause identifies it
    return f"the {noun} {joint} {subject} {verb.text}{more}", head


def _subject_end(tokens: list[Token]) -> int:
    """Token index of the verb of a plain sentence, where its subject ends; 0 if there is none."""
    if not tokens:
        return 0
    phrase = description_at(tokens, 0, len(tokens))
    start = phrase.end if phrase else 1
    return next((place for place in range(start, len(tokens)) if is_verb(tokens[place])), 0)
