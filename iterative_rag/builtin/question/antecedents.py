"""Reads a question after statements: "X won a prize. Who founded this prize?" asks about what "this prize" means.

The last sentence is planned with REFERENT in place of the words that refer back; what they mean is a name of the
statement, or a question made of it ("X won which prize?").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from iterative_rag.builtin.language.function_words import DETERMINERS
from iterative_rag.builtin.language.nouns import names_person, possessive
from iterative_rag.builtin.language.tokens import Token, group_end, head_noun, subject_end, tokenize
from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, NamePart, Node
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import capitalize, phrase_question
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentences

# Spelled like a name, so that whatever plans the last sentence takes it for one.
REFERENT: Final = "Qreferentq"

_ASKED = lazy_pattern(r"\b(?:who|whom|whose|what|which|when|where|how|why)\b", re.I)
# "Orm has a tower; who built it?"
_CLAUSE_BEFORE = lazy_pattern(
    r"(?:;| [-–—]) ((?:(?:in|on|at|to|from|by|with|for) )?(?:who|whom|whose|what|which|when|where|how)\b)"
)
_POINTED = lazy_pattern(
    r"\b(?:this|that|these|those|the same) (?:(?:older|elder|earlier|later|newer|younger|first|last|other) )?"
    r"(?P<noun>(?!year\b|time\b|day\b)[a-z]+)\b",
    re.I,
)
_DEFINITE = lazy_pattern(r"\bthe (?P<noun>[a-z]+)\b", re.I)
_PERSON = lazy_pattern(r"\b(?P<word>he|she|him|his|her)\b", re.I)
_THING = lazy_pattern(r"\b(?P<word>it|its)\b", re.I)
_THERE = lazy_pattern(r"\bthere\b(?! (?:is|was|are|were|be)\b)", re.I)
_OWNED = frozenset({"his", "her", "its"})
_INDEFINITE = frozenset({"a", "an", "one", "some", "another"})
_SOMEBODY = lazy_pattern(r"\b(?:somebody|someone)(?P<own>['’]s)?\b", re.I)
# "X is a town" says what X is and introduces no second thing.
_COPULA = frozenset({"is", "was", "are", "were", "became"})
_ADVERBS = frozenset({"never", "also", "once", "first", "later", "then", "often", "always", "still", "had", "has"})
_PRONOUNS = frozenset({"he", "she", "it", "they", "this", "that", "these", "those"})
_IDENTITY = lazy_pattern(
    rf"^(?:what|which|who) (?:[a-z]+ )?(?:is|was|are|were) (?:the (?:name|title) of )?{REFERENT}"
    r"(?:['’]s (?:name|title))?(?: called| named)?$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The last sentence of a text, with REFERENT for the words that refer back (`words`); what these mean is
    `antecedent`: a name, or a question where `asked`."""

    question: str
    words: str
    antecedent: str
    asked: bool

    def as_asked(self, text: str) -> str:
        """A part of `question` in the words of the text."""
        if self.words.lower() in _OWNED:
            text = text.replace(f"{REFERENT}'s", self.words)
        return text.replace(REFERENT, self.words)

    @property
    def asks_only_what_is_meant(self) -> bool:
        """ "What is this prize called?" """
        return bool(_IDENTITY.match(self.question))


def reference_in(text: str) -> Reference | None:
    """What the last sentence of a text takes from a statement before it; None where it stands alone."""
    stopped = _CLAUSE_BEFORE.sub(lambda match: f". {capitalize(match[1])}", text, count=1)
    *statements, question = sentences(stopped) or [text]
    if not statements or any(_ASKED.match(statement) for statement in statements):
        return None
    question = question.rstrip(" ?.")
    if not _ASKED.search(question) or REFERENT in text:
        return None
    for number in range(len(statements) - 1, -1, -1):
        statement, before = statements[number].rstrip(" ."), statements[:number]
        for match, noun, person in _references(question):
            meant = _antecedent(statement, noun, person)
            if meant is None:
                continue
            antecedent, asked = meant
            if asked and before:
                antecedent = " ".join((*before, antecedent))
            return Reference(_with_referent(question, match), match[0], antecedent, asked)
    return None


def _who(somebody: re.Match[str]) -> str:
    """The question word for "somebody": "who" where it opens the statement."""
    if somebody["own"]:
        return "whose"
    return "whom" if somebody.start() else "who"


def with_antecedent(node: Node, reference: Reference, antecedent: Node) -> Node:
    """A plan of the last sentence with the antecedent's node in the place of REFERENT."""

    def put(part: Node) -> Node:
        return with_antecedent(part, reference, antecedent)

    source = reference.as_asked(node.source)
    match node:
        case Literal():
            return antecedent if REFERENT in node.source else node
        case Lookup():
            slots = tuple(put(slot) for slot in node.slots)
            if REFERENT not in node.template:
                return Lookup(source, node.template, slots)
            template = node.template.replace(REFERENT, f"{{{len(slots)}}}")
            return Lookup(source, template, (*slots, antecedent))
        case NamePart():
            return replace(node, source=source, person=put(node.person))
        case Computed():
            operands, labels = tuple(map(put, node.operands)), tuple(map(put, node.labels))
            return replace(node, source=source, operands=operands, labels=labels)
        case Fallback():
            return Fallback(source, put(node.first), put(node.second))


def _references(question: str) -> Iterator[tuple[re.Match[str], str, bool | None]]:
    """Words that may refer back, the clearest first, with their noun and whether they mean a person (None: unknown)."""
    for match in _POINTED.finditer(question):
        yield match, match["noun"].lower(), names_person(match["noun"].lower())
    for match in _DEFINITE.finditer(question):
        yield match, match["noun"].lower(), None
    for pattern, person in ((_PERSON, True), (_THING, False), (_THERE, False)):
        if pronoun := pattern.search(question):
            yield pronoun, "", person


def _with_referent(question: str, match: re.Match[str]) -> str:
    after = question[match.end() :]
    owned = "word" in match.groupdict() and match["word"].lower() in _OWNED
    if match[0].lower() == "there":
        return f"{question[: match.start()]}in {REFERENT}{after}"
    # "her" is possessive before a noun only.
    owned = owned and bool(re.match(r" [\w-]+", after)) and not re.match(r" (?:in|at|on|to|from|by|with)\b", after)
    return f"{question[: match.start()]}{possessive(REFERENT) if owned else REFERENT}{after}"


def _antecedent(statement: str, noun: str, person: bool | None) -> tuple[str, bool] | None:
    """What a statement says of the noun or person: a name, or (True) a question; None if it tells of no such thing."""
    if not noun and person is not None and re.search(r"\bwhose\b" if person else r"\b(?:his|her|whose)\b", statement):
        return None  # "Orley left his novel unfinished": it is not Orley
    tokens = tokenize(statement)
    subject = subject_end(tokens)
    defines = bool(subject) and tokens[subject].low in _COPULA and _opens_noun(tokens[subject + 1 : subject + 2])
    introduced = [] if defines else list(_introduced(tokens))
    same = [group for group in introduced if noun and group[2] == noun]
    if not same and person is None:
        return None  # "the N" refers back only to the same noun
    if not same and person and (somebody := _SOMEBODY.search(statement)):
        return _asked(statement, somebody.start(), somebody.end(), _who(somebody)), True
    alike = same or [group for group in introduced if names_person(group[2]) == person]
    if alike:
        start, end, _ = alike[-1]
        group = statement[tokens[start + 1].start : tokens[end - 1].end]
        return _asked(statement, tokens[start].start, tokens[end - 1].end, f"which {group}"), True
    return _subject(statement, tokens[:subject], bool(person)) if subject else None


def _opens_noun(tokens: list[Token]) -> bool:
    return bool(tokens) and (tokens[0].low in _INDEFINITE or tokens[0].low == "the")


def _subject(statement: str, tokens: list[Token], person: bool) -> tuple[str, bool] | None:
    """The subject of a statement: its name, or the question that finds it; None if it cannot be what is meant."""
    first = tokens[0].low
    if first in _PRONOUNS:
        return None
    while len(tokens) > 1 and (tokens[-1].low in _ADVERBS or tokens[-1].low.endswith("ly")):
        tokens = tokens[:-1]  # "Mozart never"
    begin = int(first in DETERMINERS)
    group = tokens[begin : group_end(tokens, begin, len(tokens))]
    if not group or group[-1].capital:
        return statement[: tokens[-1].end].rstrip(" ,"), False
    if names_person(head_noun(group)) != person:
        return None
    if first in _INDEFINITE:
        return f"Which {statement[tokens[0].end :].strip()}?", True
    asks = Asks.WHO if person else Asks.WHAT
    return phrase_question(statement[: tokens[-1].end].rstrip(" ,"), asks), True


def _introduced(tokens: list[Token]) -> Iterator[tuple[int, int, str]]:
    """The noun groups that a statement introduces ("a future president"): first and last token (exclusive), noun."""
    for position, token in enumerate(tokens):
        if token.low in _INDEFINITE:
            end = group_end(tokens, position + 1, len(tokens))
            if end > position + 1:
                yield position, end, head_noun(tokens[position + 1 : end])


def _asked(statement: str, start: int, end: int, words: str) -> str:
    text = f"{statement[:start]}{words}{statement[end:]}?"
    return text[:1].upper() + text[1:]
