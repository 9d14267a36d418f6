"""Rewrites queries without a model: keywords, synonyms, the question as a statement, the subject alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    IRREGULAR,
    PARTICIPLES,
    PREPOSITIONS,
    QUESTION_WORDS,
    STOPWORDS,
    content,
    stem,
    word_set,
    words,
)
from iterative_rag.builtin.language.hypernyms import near_kinds
from iterative_rag.builtin.language.lexicon import INVERSE, MEASURES, AnswerKind, synonyms
from iterative_rag.builtin.language.tokens import Token, is_participle, is_verb, tokenize
from iterative_rag.builtin.question.need_query import LIGHT_VERBS, Query, read_query
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Need, Rewording

# Most synonyms of one word and of one query; more would outweigh the names.
FEW, MOST = 4, 8
MOST_WEB_WORDS = 12
PHRASINGS = 3

_FUNCTION_WORDS = STOPWORDS | LIGHT_VERBS
_INNER = lazy_pattern(r" (?:of|the|of the) ")
_ENDINGS = {AnswerKind.PLACE: "in", AnswerKind.DATE: "on", AnswerKind.YEAR: "in", AnswerKind.PERSON: "by"}
_PARTICIPLES = {IRREGULAR[word]: word for word in sorted(PARTICIPLES) if word in IRREGULAR}
# Base form to past tense; the first in the list counts, and past tenses before participles ("went", not "gone").
_PASTS: dict[str, str] = {}
for _past, _base in sorted(IRREGULAR.items(), key=lambda item: item[0] in PARTICIPLES):
    _PASTS.setdefault(_base, _past)
_AMOUNTS = word_set("many much")
# Most words of a noun group between question word and verb ("which British football club").
MOST_NOUN = 6


class BuiltinRewriter:
    """Implements protocols.Rewriter for English, deterministically; other languages get keywords."""

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        query = read_query(need.question)
        names = names_of(query)
        seen = {_key(text) for text in (need.question, *tried)} | {()}
        broader = next(_new([" ".join(names)], seen), "")
        phrasings = tuple(_new((*_phrasings(query, names), *names), seen))[:PHRASINGS]
        return Rewording(phrasings, broader, statement(query))

    def web_query(self, need: Need) -> str:
        query = read_query(need.question)
        return " ".join(_key_words(query)[:MOST_WEB_WORDS]) or need.question


def _new(texts: Sequence[str], seen: set[tuple[str, ...]]) -> Iterator[str]:
    """Yield the texts whose word sequence is not in `seen`, and add it."""
    for text in texts:
        if (key := _key(text)) not in seen:
            seen.add(key)
            yield text


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _phrasings(query: Query, names: Sequence[str]) -> Iterator[str]:
    """Other wordings of a query: synonyms of its relation, then hypernyms and the inverse relation, then keywords.

    Keywords come last: they find much the same as the question, and would outvote the results of the others.
    """
    written = {stem(word): word for word in words(query.text)}
    relation = tuple(dict.fromkeys((*query.relation, *query.asked)))
    for others in (synonyms, _kinds):
        instead = {one: others(one)[:FEW] for one in relation}
        if any(instead.values()):
            told = (word for one in relation for word in instead[one] or (written.get(one, one),))
            yield " ".join([*names, *map(str, query.years), *islice(dict.fromkeys(told), MOST)])
    yield " ".join(_key_words(query))


def _kinds(stemmed: str) -> tuple[str, ...]:
    """Inverse relations and hypernyms: Ann's article names her mother as that of a "child"; a physician is a doctor."""
    return () if stemmed in MEASURES else (*sorted(INVERSE.get(stemmed, ())), *near_kinds(stemmed))


def names_of(query: Query) -> tuple[str, ...]:
    """The names of a query as its text spells them; names separated only by "of" or "the" are one."""
    found: list[tuple[int, int]] = []
    at = 0
    tokens = [token for token in tokenize(query.text) if token.word]
    for name in query.names:
        parts = [token for token in tokens if token.start >= at and set(content(token.text)) & set(name)]
        if not parts:
            continue
        first = parts[0]
        last = next((token for token in parts if name[-1] in content(token.text)), first)
        at = last.end
        if found and _INNER.fullmatch(query.text, found[-1][1], first.start):
            found[-1] = (found[-1][0], last.end)
        else:
            found.append((first.start, last.end))
    return tuple(dict.fromkeys(_bare(query.text[start:end]) for start, end in found))


def _key_words(query: Query) -> list[str]:
    """The content words of a query, with the function words inside names."""
    return [
        _bare(token.text)
        for token in tokenize(query.text)
        if token.word and token.low not in QUESTION_WORDS
        if token.low not in _FUNCTION_WORDS or (token.capital and token.start)
    ]


def _bare(text: str) -> str:
    return re.sub(r"['’]s?$", "", text.strip('"“”'))


# --- the question as a statement -------------------------------------------------------------


def statement(query: Query) -> str:
    """The beginning of an answering sentence: "Where was Ann Lee born?" -> "Ann Lee was born in".

    A question of unknown form loses its question word only.
    """
    tokens = [token for token in tokenize(query.text) if token.word]
    asked = next((place for place, token in enumerate(tokens) if token.low in QUESTION_WORDS), None)
    if asked is None:
        return _text(tokens)
    rest = tokens[asked + 1 :]
    noun_end = next((place for place, token in enumerate(rest) if is_verb(token)), len(rest))
    noun, clause = [token for token in rest[:noun_end] if token.low not in _AMOUNTS], rest[noun_end:]
    if len(noun) > MOST_NOUN or len(clause) < 2:
        return _text(rest)
    ending = _ENDINGS.get(query.kind, _text(noun))
    if clause[0].low not in AUXILIARIES:
        return f"{_text(clause[1:])} was {_participle(clause[0].low)} by {_text(noun)}".strip()
    auxiliary, clause = clause[0].low, clause[1:]
    verb = _last_verb(clause)
    if verb is None:
        # "Who was the mayor of X": the rest is a noun phrase.
        return f"{_text(clause)} {auxiliary} {_text(noun)}".strip()
    subject, predicate = clause[:verb], clause[verb:]
    if auxiliary in {"did", "does", "do"}:
        said = f"{_past_of(predicate[0].low)} {_text(predicate[1:])}" if auxiliary == "did" else _text(predicate)
        return f"{_text(subject)} {said.strip()} {ending}".strip()
    return f"{_text(subject)} {auxiliary} {_text(predicate)} {ending}".strip()


def _last_verb(clause: Sequence[Token]) -> int | None:
    """Index of the main verb after auxiliary and subject: the last one not after a determiner or preposition."""
    for place in range(len(clause) - 1, 0, -1):
        token, before = clause[place], clause[place - 1].low
        if (is_participle(token) or token.small in BASE_VERBS) and before not in DETERMINERS | PREPOSITIONS:
            return place
    # After a name, take the first lower-case content word for the verb, even if no list has it.
    small = (place for place, token in enumerate(clause) if place and token.small and token.low not in _FUNCTION_WORDS)
    return next(small, None) if clause[0].capital else None


def _participle(verb: str) -> str:
    """The participle of a past tense: "wrote" -> "written"; regular forms are their own."""
    return _PARTICIPLES.get(IRREGULAR.get(verb, ""), verb)


def _past_of(verb: str) -> str:
    return _PASTS.get(verb, f"{verb}d" if verb.endswith("e") else f"{verb}ed")


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)
