"""Corrects the spans of a split where the grammar around them shows that their boundaries are wrong."""

from __future__ import annotations

import re
from dataclasses import replace

from iterative_rag.builtin.language.function_words import DETERMINERS, PREPOSITIONS, QUESTION_WORDS, RELATIVES
from iterative_rag.builtin.language.tokens import Token, is_participle, tokenize
from iterative_rag.builtin.language.verbs import acts
from iterative_rag.builtin.question.descriptions import modifiers_end
from iterative_rag.builtin.question.span_decoding import Form, QuestionKind, QuestionSpan, Split
from iterative_rag.text.patterns import lazy_pattern

_ASKS_AT_END = lazy_pattern(r"\b(?:who|whom|what|when|where)$|\b(?:what|which|whose) (?:[\w-]+ ){0,4}[\w-]+$", re.I)
_RELATIVE = lazy_pattern(r",? \b(?:who|whose|that|which|where)\b")
# "the village of Orm" is Orm.
_SO_CALLED = lazy_pattern(
    r"^(?:the )?(?:city|state|town|village|island|province|kingdom|republic|borough|commune|planet|University) of "
    r"(?:[A-Z][\w.-]*(?: |$|, ))+$"
)
_OWN = lazy_pattern(r"['’]")
_ASKS_FIRST = lazy_pattern(
    rf"^(?:\w+ )?(?:{'|'.join(sorted(QUESTION_WORDS))}|is|are|was|were|did|does|do|has|have)\b", re.I
)


def repair(split: Split) -> Split:
    """Correct the spans of a nested split; SINGLE if no description is left to look up first."""
    if split.kind is not QuestionKind.NESTED:
        return split
    question = split.question
    inner = [_extend_over_clause(question, one) for one in split.inner]
    inner = [_reduce_to_clause(question, one) for one in inner]
    inner = [one for one in inner if one.form is Form.CLAUSE or not is_named(question[one.start : one.end])]
    inner = [one for one in inner if not any(_overruns(question, one, other) for other in inner)]
    inner = sorted(dict.fromkeys(inner), key=lambda one: (one.end - one.start, one.start))
    if not inner:
        return replace(split, kind=QuestionKind.SINGLE, inner=())
    return replace(split, inner=tuple(inner))


def is_named(phrase: str) -> bool:
    """Whether a description contains the name of its referent: "the cook Ann Lee", "the show “Dawn”"."""
    if _SO_CALLED.match(phrase):
        return True
    tokens = tokenize(phrase.rstrip(" ,?"))
    if len(tokens) < 2 or not tokens[-1].capital or tokens[-1].text[0].isdigit():
        return False
    begin = int(tokens[0].low in DETERMINERS)
    words = tokens[begin:]
    if not begin or len(words) < 2 or any(_ends_group(token) for token in words):
        return False
    return not any(token.possessive for token in words)


def _ends_group(token: Token) -> bool:
    """Whether a token ends the noun group: a preposition, determiner, conjunction, verb or sign."""
    small = token.small
    linked = small in PREPOSITIONS | RELATIVES | DETERMINERS or small in {"and", "or"}
    return linked or (not token.word and token.text not in {"-", "–", "."}) or acts(token) or small.endswith("ing")


def _extend_over_clause(question: str, one: QuestionSpan) -> QuestionSpan:
    """Extend a description over the relative clause after it, in a question that asks at its start."""
    if one.form is not Form.PHRASE or not _ASKS_FIRST.match(question):
        return one
    tokens = tokenize(question.rstrip(" ?."))
    place = next((at for at, token in enumerate(tokens) if token.start >= one.end), len(tokens))
    if place + 1 >= len(tokens) or tokens[place].low not in RELATIVES or acts(tokens[place - 1]):
        return one
    end = modifiers_end(tokens, place, len(tokens))
    return replace(one, end=tokens[end - 1].end) if end > place else one


def _reduce_to_clause(question: str, one: QuestionSpan) -> QuestionSpan:
    """Reduce "X is by a man whose father is who" to the clause before "whose", which is looked up first."""
    text = question[one.start : one.end]
    goes_on = question[one.end :].strip(" ?.")
    if one.form is not Form.PHRASE or goes_on or _ASKS_FIRST.match(question) or not _ASKS_AT_END.search(text):
        return one
    clause = _RELATIVE.search(text)
    begin = max((match.end() for match in re.finditer(r"[.!] (?=[A-Z])", question[: one.start])), default=0)
    if clause is None or not any(acts(token) for token in tokenize(question[begin : one.start])):
        return one
    return replace(one, form=Form.CLAUSE, start=begin, end=one.start + clause.start())


def _overruns(question: str, one: QuestionSpan, inner: QuestionSpan) -> bool:
    """Whether a description overruns a shorter one into the question's own words: "the man who made X [die]"."""
    if one.form is not Form.PHRASE or inner.form is not Form.PHRASE or not one.holds(inner) or one.start != inner.start:
        return False
    rest = tokenize(question[inner.end : one.end])
    if _OWN.match(question[inner.end :]) or not rest:
        return False
    return acts(rest[0]) or is_participle(rest[0]) or (rest[0].word and rest[0].low not in PREPOSITIONS | RELATIVES)
