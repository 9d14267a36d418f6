"""Reads a question after statements: "X won a prize. Who founded this prize?" asks about what "this prize" means.

The last sentence is planned with REFERENT in place of the words that refer back; what they mean is a name of the
statement, or a question made of it ("X won which prize?").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
)
from iterative_rag.builtin.language.nouns import names_person, possessive
from iterative_rag.builtin.language.tokens import BEFORE, Token, group_end, head_noun, subject_end, tokenize
from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, NamePart, Node
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import capitalize, phrase_question
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentences

# Spelled like a name, so that whatever plans the last sentence takes it for one.
REFERENT: Final = "Qreferentq"

_REFERENCE = lazy_pattern(
    r"\b(?:(?:this|that|these|those|the same) (?:(?:older|elder|earlier|later|newer|younger|first|last|other) )?"
    r"(?P<noun>(?!year\b|time\b|day\b)[a-z]+)|(?P<word>he|she|him|his|her|it|its))\b",
    re.I,
)
_OWNED = frozenset({"his", "her", "its"})
_INDEFINITE = frozenset({"a", "an", "one", "some", "another"})
# "X is a town" says what X is and introduces no second thing.
_COPULA = frozenset({"is", "was", "are", "were", "became"})
_ADVERBS = BEFORE | {"never", "always", "still", "had", "has"}
_IDENTITY = lazy_pattern(
    rf"^(?:what|which|who) (?:[a-z]+ )?(?:is|was|are|were) (?:the (?:name|title) of )?{REFERENT}"
    r"(?:['’]s (?:name|title))?(?: called| named)?$",
    re.I,
)
_AUXILIARY, _PREPOSITION, _ASKING = map("|".join, (AUXILIARIES, PREPOSITIONS, QUESTION_WORDS))
_BREAK = "|".join(CONJUNCTIONS | DETERMINERS | QUESTION_WORDS)
_THIS = r"th(?:is|at|[eo]se)\b(?! (?:time|year|day|month|week|century|world|planet|who|which)\b)"
# A question up to a word whose antecedent it lacks: after the auxiliary ("Is it true that", "How far is it to" mean
# nothing by "it"; the animal that "has its home" is asked for), at the end, or after "who" and a verb.
_UNNAMED = lazy_pattern(
    rf"(?!what (?:time|year|day|date|month) is it\b)(?:(?:(?:{_PREPOSITION}) )?"
    rf"(?:(?:{_ASKING}) (?:(?!(?:{_BREAK})\b)[a-z-]+ ){{0,3}}?)?(?:(?:{_AUXILIARY}) (?:the (?:[a-z-]+ ){{1,3}}of )?"
    rf"(?:(s?he|(?<!ha[sd] )(?<!have )(?:his|her|its|their)(?= )|they(?=(?: [a-z]+)?$)"
    rf"|it(?!.*(?:[^a-z '’-]| (?:rain|snow|take|like|the|that|{_ASKING}|{_PREPOSITION})\b)))(?=(?: [^,.;:]*)?$)"
    rf"|({_THIS})(?: [a-z-]+){{0,3}}$)|(?<= )(him|her|it|them)(?=$| and (?:{_ASKING})\b))"
    rf"|who [a-z]+ (its|{_THIS})(?: [a-z-]+)?$)"
)


def unnamed_in(question: str) -> str:
    """What a question that names nothing does not say, in a sentence: whom "she" means; "" where it stands alone."""
    found = _UNNAMED.match(f"{question[:1].lower()}{question[1:]}".rstrip(" ?.!"))
    word = str(found[found.lastindex or 0]) if found else ""
    whom = "what" if word[:1] in ("i", "t") else "whom"
    return word and f"The question does not say {whom} “{word}” means: ask it again with the name."


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
    *statements, question = sentences(text) or [text]
    question = question.rstrip(" ?.")
    if any(statement.split()[0].lower() in QUESTION_WORDS for statement in statements) or REFERENT in text:
        return None
    for number in reversed(range(len(statements))):
        statement, before = statements[number].rstrip(" ."), statements[:number]
        for match, noun, person in _references(question):
            if meant := _antecedent(statement, noun, person):
                antecedent, asked = meant
                antecedent = " ".join((*before, antecedent)) if asked else antecedent
                return Reference(_with_referent(question, match), match[0], antecedent, asked)
    return None


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


def _references(question: str) -> list[tuple[re.Match[str], str, bool]]:
    """Words that may refer back, the clearest first, with their noun and whether they mean a person."""
    found = [(match, (match["noun"] or "").lower()) for match in _REFERENCE.finditer(question)]
    read = [(match, noun, names_person(noun) if noun else match["word"][0].lower() != "i") for match, noun in found]
    return sorted(read, key=lambda reference: (not reference[1], not reference[2]))


def _with_referent(question: str, match: re.Match[str]) -> str:
    after = question[match.end() :]
    # "her" is possessive before a noun only.
    follows = next((token.low for token in tokenize(after)), "?")
    owned = (match["word"] or "").lower() in _OWNED and follows[0].isalnum() and follows not in PREPOSITIONS
    return f"{question[: match.start()]}{possessive(REFERENT) if owned else REFERENT}{after}"


def _antecedent(statement: str, noun: str, person: bool) -> tuple[str, bool] | None:
    """What a statement says of the noun or person: a name, or (True) a question; None if it tells of no such thing."""
    tokens = tokenize(statement)
    subject = subject_end(tokens)
    after = tokens[subject + 1].low if subject and subject + 1 < len(tokens) else ""
    defines = after in _INDEFINITE | {"the"} and tokens[subject].low in _COPULA
    # What it introduces: "a future president".
    places = [n for n, token in enumerate(tokens[:-1]) if token.low in _INDEFINITE and not defines]
    heads = {n: head_noun(tokens[n + 1 : group_end(tokens, n + 1, len(tokens))]) for n in places}
    alike = [n for n, head in heads.items() if noun and head == noun]
    alike = alike or [n for n, head in heads.items() if head and names_person(head) == person]
    if not alike:
        return _subject(statement, tokens[:subject], person) if subject else None
    before, group = statement[: tokens[alike[-1]].start], statement[tokens[alike[-1] + 1].start :]
    return capitalize(f"{before}which {group}?"), True


def _subject(statement: str, tokens: list[Token], person: bool) -> tuple[str, bool] | None:
    """The subject of a statement: its name, or the question that finds it; None if it cannot be what is meant."""
    first = tokens[0].low
    while len(tokens) > 1 and (tokens[-1].low in _ADVERBS or tokens[-1].low.endswith("ly")):
        tokens = tokens[:-1]  # "Mozart never"
    begin = int(first in DETERMINERS)
    group = tokens[begin : group_end(tokens, begin, len(tokens))]
    if first in PRONOUNS or not group:
        return None
    if group[-1].capital:
        return statement[: tokens[-1].end].rstrip(" ,"), False
    if names_person(head_noun(group)) != person:
        return None
    return phrase_question(statement[: tokens[-1].end].rstrip(" ,"), Asks.WHO if person else Asks.WHAT), True
