"""How needs are worded: what a question asks for in short, and which values of others it names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from iterative_rag.text.comparing import same_name, stands_in
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.unspaced import is_unspaced, stands_within
from iterative_rag.text.values import Mention

# What is left has to be a noun phrase: it begins with an article, or with a name that owns what is asked for.
_ASKS_FOR = lazy_pattern(
    r"^(?:Who|What|Which)\s+(?P<verb>is|are|was|were)\s+(?P<article>the\s+)?(?P<phrase>\S.*?)\s*\?$"
)
_OWNED = lazy_pattern(r"^[^\W\d_a-z](?:(?!\b(?:when|while|that|who|which)\b).)*?(?:['’]s|s['’])\s+\S")
# A question inside the question, a choice, or a phrase that ends in its middle: "the capital of France known for".
_NO_PHRASE = lazy_pattern(
    r"(?:[,?!;]|\bor\b|\b(?:and|but)\s+(?:who|what|when|where|which|how|why|is|are|was|were|did|does)\b"
    r"|\b(?:by|for|from|of|in|on|at|to|with|about|as|known|called|like|do|did|does|before"
    r"|\w{3,}ed)$)"
)
_WORD = lazy_pattern(r"[^\W_]+")
# Where a word begins, the word folded, and whether it may be a name, as one of a script without capitals may.
Word: TypeAlias = tuple[int, str, bool]


def asked_phrase(question: str) -> tuple[str, str]:
    """The noun phrase that a question asks for and its verb: "the 15th first lady" and "is" for "Who is the 15th first
    lady?"; both "" where the question has another form."""
    match = _ASKS_FOR.match(question)
    if match is None or _NO_PHRASE.search(match["phrase"]):
        return "", ""
    article = "the " if match["article"] else ""
    return (article + match["phrase"], match["verb"]) if article or _OWNED.match(match["phrase"]) else ("", "")


def label(question: str) -> str:
    """ "15th first lady" for "Who is the 15th first lady?"; a question of another form as it is."""
    return asked_phrase(question)[0].removeprefix("the ") or question


def values_named(question: str, values: Sequence[str], known: str = "") -> tuple[int, ...]:
    """Which of the values a question names and the text `known` does not, by their positions.

    A value is named in full, by a part of its name ("Garfield"), or by a number or date that it implies ("1837" for "4
    March 1837"). Where several values have the same words, the one that has most of them is meant; of equals the first.
    """
    hits = [(_named(question, value, known), n) for n, value in enumerate(values)]
    taken: set[int] = set()
    meant = []
    for words, n in sorted(hits, key=lambda pair: (-len(pair[0]), len(values[pair[1]]))):
        if not taken >= words:
            meant.append(n)
            taken |= words
    return tuple(sorted(meant))


def _named(question: str, value: str, known: str) -> frozenset[int]:
    """The places of the letters of a question that name a value, none where they are in the known text as well."""
    if is_unspaced(value):
        new = stands_within(value, question) and not stands_within(value, known)
        at = max(question.find(value), 0)
        return frozenset(range(at, at + len(value))) if new else frozenset()
    return _amounts_named(question, value, known) or _name_parts(question, value, known)


def _amounts_named(question: str, value: str, known: str) -> frozenset[int]:
    """The places of the numbers and dates that a value implies."""
    given, before = _amounts(value), _amounts(known)
    said = (amount for amount in _amounts(question) if any(stands_in(amount, other) for other in given))
    new = (amount for amount in said if not any(stands_in(amount, old) for old in before))
    return frozenset(position for amount in new for position in range(amount.start, amount.end))


def _name_parts(question: str, value: str, known: str) -> frozenset[int]:
    """The places of the words of a name, or of all words that a value has besides function words."""
    code, bare = language(question) or "en", question.islower()
    amounts = _amounts(value)
    said = [
        (low, is_name)
        for start, low, is_name in _words(value)
        if not (is_function_word(low, code) or any(amount.start <= start < amount.end for amount in amounts))
    ]
    named = [
        word
        for word in _words(question)
        if any(same_name(low, word[1]) and is_name and (word[2] or bare) for low, is_name in said)
    ]
    if not named:
        held = [word for word in _words(question) if any(same_name(low, word[1]) for low, _ in said)]
        named = held if said and all(any(same_name(low, word[1]) for word in held) for low, _ in said) else []
    old = {low for _, low, _ in _words(known)}
    if all(any(same_name(low, word) for word in old) for _, low, _ in named):
        return frozenset()
    return frozenset(position for start, low, _ in named for position in range(start, start + len(low)))


def _amounts(text: str) -> tuple[Mention, ...]:
    return tuple(mention for mention in single(mentions(text, language(text))) if not (mention.named or mention.worded))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[Word, ...]:
    return tuple((match.start(), folded(match[0]), not match[0][0].islower()) for match in _WORD.finditer(text))
