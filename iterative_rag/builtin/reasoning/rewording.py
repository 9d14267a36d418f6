"""Rewrites queries without a model: keywords, the subject alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import QUESTION_WORDS, STOPWORDS, words
from iterative_rag.builtin.language.tokens import tokenize
from iterative_rag.builtin.question.need_query import LIGHT_VERBS
from iterative_rag.types import Need, Rewording

MOST_WEB_WORDS = 12


class BuiltinRewriter:
    """Implements protocols.Rewriter for English, deterministically; other languages get keywords."""

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        key_words = _key_words(need.question)
        names = [word for word in key_words if word[:1].isupper()]
        seen = [words(text) for text in (need.question, *tried)]
        others = [" ".join(said) for said in (key_words, names) if said and words(" ".join(said)) not in seen]
        return Rewording(tuple(others[:1]), others[-1] if len(others) > 1 else "")

    def web_query(self, need: Need) -> str:
        return " ".join(_key_words(need.question)[:MOST_WEB_WORDS]) or need.question


def _key_words(question: str) -> list[str]:
    """The content words of a question, with the function words that begin large inside names."""
    return [
        re.sub(r"['’]s?$", "", token.text.strip('"“”'))
        for token in tokenize(question)
        if token.word and token.low not in QUESTION_WORDS
        if token.low not in STOPWORDS | LIGHT_VERBS or (token.capital and token.start)
    ]
