"""Query correction without a model: key words, synonyms, the question as a statement, the subject alone."""

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

# Synonyms of one word, and of a need, that one query takes: more of them drown the names.
FEW, MOST = 4, 8
MOST_PHRASINGS = 3
MOST_WEB_WORDS = 12

_FUNCTION_WORDS = STOPWORDS | LIGHT_VERBS
_INNER = lazy_pattern(r" (?:of|the|of the) ")
_ENDINGS = {AnswerKind.PLACE: "in", AnswerKind.DATE: "on", AnswerKind.YEAR: "in", AnswerKind.PERSON: "by"}
_PARTICIPLES = {IRREGULAR[word]: word for word in sorted(PARTICIPLES) if word in IRREGULAR}
# Of several the first that the list names, and a past tense before a participle: "went", not "gone".
_PASTS: dict[str, str] = {}
for _past, _base in sorted(IRREGULAR.items(), key=lambda item: item[0] in PARTICIPLES):
    _PASTS.setdefault(_base, _past)
_AMOUNTS = word_set("many much")
# Words between question word and verb ("which British football club"); more are no noun group.
MOST_NOUN = 6


class BuiltinRewriter:
    """Implements protocols.Rewriter, for English; other languages get key words. The same need, the same words."""

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        query = read_query(need.question)
        names = names_of(query)
        seen = {_key(text) for text in (need.question, *tried)} | {()}
        broader = next(_new([" ".join(names)], seen), "")
        phrasings = tuple(_new((*_phrasings(query, names), *names), seen))[:MOST_PHRASINGS]
        return Rewording(phrasings, broader, statement(query))

    def web_query(self, need: Need) -> str:
        query = read_query(need.question)
        return " ".join(_key_words(query)[:MOST_WEB_WORDS]) or need.question


def _new(texts: Sequence[str], seen: set[tuple[str, ...]]) -> Iterator[str]:
    """The texts whose words were not searched for in that order; each is remembered."""
    for text in texts:
        if (key := _key(text)) not in seen:
            seen.add(key)
            yield text


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _phrasings(query: Query, names: Sequence[str]) -> Iterator[str]:
    """What else the relation may be called; its kinds and its other end; the key words alone, if there is room.

    Other words come first: key words find much the same as the question, and would outvote what they find.
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
    """A physician is a doctor; the mother of Ann stands in the article of Ann, her child."""
    return () if stemmed in MEASURES else (*sorted(INVERSE.get(stemmed, ())), *near_kinds(stemmed))


def names_of(query: Query) -> tuple[str, ...]:
    """The names of a query as its text writes them; what only "of" or "the" keeps apart is one name."""
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
    """The words that carry meaning; a function word is one where it stands inside a name."""
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
    """The beginning of the sentence that would answer: "Where was Ann Lee born?" as "Ann Lee was born in".

    A question of no known form comes back as its words without the question word.
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
        # "Who was the mayor of X": all that follows is what is asked for.
        return f"{_text(clause)} {auxiliary} {_text(noun)}".strip()
    subject, predicate = clause[:verb], clause[verb:]
    if auxiliary in {"did", "does", "do"}:
        said = f"{_past_of(predicate[0].low)} {_text(predicate[1:])}" if auxiliary == "did" else _text(predicate)
        return f"{_text(subject)} {said.strip()} {ending}".strip()
    return f"{_text(subject)} {auxiliary} {_text(predicate)} {ending}".strip()


def _last_verb(clause: Sequence[Token]) -> int | None:
    """The verb that goes with an auxiliary before the subject: the last that no determiner or preposition precedes."""
    for place in range(len(clause) - 1, 0, -1):
        token, before = clause[place], clause[place - 1].low
        if (is_participle(token) or token.small in BASE_VERBS) and before not in DETERMINERS | PREPOSITIONS:
            return place
    # After a name a small word is the verb, though no list knows it.
    small = (place for place, token in enumerate(clause) if place and token.small and token.low not in _FUNCTION_WORDS)
    return next(small, None) if clause[0].capital else None


def _participle(verb: str) -> str:
    """ "wrote" -> "written"; regular ones are their own."""
    return _PARTICIPLES.get(IRREGULAR.get(verb, ""), verb)


def _past_of(verb: str) -> str:
    return _PASTS.get(verb, f"{verb}d" if verb.endswith("e") else f"{verb}ed")


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)
