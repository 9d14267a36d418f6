"""Rewrites queries without a model: keywords, the subject alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from iterative_rag.builtin.language.function_words import QUESTION_WORDS, STOPWORDS, content, words
from iterative_rag.builtin.language.tokens import tokenize
from iterative_rag.builtin.question.need_query import LIGHT_VERBS, Query, read_query
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Need, Rewording

MOST_WEB_WORDS = 12
PHRASINGS = 3

_FUNCTION_WORDS = STOPWORDS | LIGHT_VERBS
_INNER = lazy_pattern(r" (?:of|the|of the) ")


class BuiltinRewriter:
    """Implements protocols.Rewriter for English, deterministically; other languages get keywords."""

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        query = read_query(need.question)
        names = names_of(query)
        seen = {_key(text) for text in (need.question, *tried)} | {()}
        broader = next(_new([" ".join(names)], seen), "")
        phrasings = tuple(_new((" ".join(_key_words(query)), *names), seen))[:PHRASINGS]
        return Rewording(phrasings, broader)

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


def names_of(query: Query) -> tuple[str, ...]:
    """The names of a query as its text spells them; names separated only by "of" or "the" are one."""
    spans: list[tuple[int, int]] = []
    at = 0
    tokens = [token for token in tokenize(query.text) if token.word]
    for name in query.names:
        parts = [token for token in tokens if token.start >= at and set(content(token.text)) & set(name)]
        if not parts:
            continue
        first = parts[0]
        last = next((token for token in parts if name[-1] in content(token.text)), first)
        at = last.end
        if spans and _INNER.fullmatch(query.text, spans[-1][1], first.start):
            spans[-1] = (spans[-1][0], last.end)
        else:
            spans.append((first.start, last.end))
    return tuple(dict.fromkeys(_bare(query.text[start:end]) for start, end in spans))


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
