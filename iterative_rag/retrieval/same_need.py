"""Whether two needs ask for the same fact in other words.

Vectors alone confuse what differs in one word: born and died, father and mother, first and last. So the words are
compared first. Names in their order, numbers, negations, superlatives, relations and the kind of value asked for have
to be the same; only then may vectors decide whether the rest means the same. Needs in languages other than English are
the same only with the same words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from iterative_rag.protocols import Vectors
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern

# The cosine from which on two needs are the same, tuned on one half of evaluation/reuse (scripts/bench/retrieval.py).
THRESHOLD: Final = 0.8
# Relations between two people or teams: "whom did she kill" and "who killed her" have the same words.
_DIRECTED: Final = frozenset(["kill", "lose", "succeed", "precede", "teach", "work", "buy", "sell", "lead", "name"])
_EQUAL: Final = ("language", "open", "names", "values", "marks", "relations", "rest")
# "Who is the mayor" and "what is the name of the mayor".
_WHO_OR_NAME: Final = {frozenset(["who"]), frozenset(["name"])}
_ASKING: Final = frozenset(["who", "whom", "whose", "what", "which", "when", "where", "why", "how"])
_WORD = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class NeedShape:
    """What has to be the same in two needs. `open`: it has a question word, so yes or no is no answer; `direction`: it
    has "did", and it has "by"; `rest` are the other words that carry meaning."""

    language: str
    open: bool
    names: tuple[str, ...]
    values: tuple[str, ...]
    asked: frozenset[str]
    marks: frozenset[str]
    relations: frozenset[str]
    direction: tuple[bool, bool]
    rest: frozenset[str]

    def allows(self, other: NeedShape) -> bool:
        """Whether nothing that counts differs."""
        if any(getattr(self, part) != getattr(other, part) for part in _EQUAL):
            return False
        if self.asked != other.asked and {self.asked, other.asked} != _WHO_OR_NAME:
            return False
        return self.direction == other.direction or (self.asked == other.asked and not self.relations & _DIRECTED)


@lru_cache(maxsize=4096)
def shape(question: str) -> NeedShape:
    """The shape of a need."""
    code, question = language(question) or "en", common_names(question)
    words = [match[0] for match in _WORD.finditer(question)]
    plain = [_without_possessive(folded(word)) for word in words]
    vocabulary = _vocabulary()
    asking = bool(_ASKING & set(plain))
    if plain[:1] == ["how"] and vocabulary.get(plain[1] if plain[1:] else "", ("",))[0] == "relations":
        words, plain = words[1:], plain[1:]  # "how long is" is "what is the length of"
    is_name = [_is_name(word, first=not n) and plain[n] not in vocabulary for n, word in enumerate(words)]
    common = [word for word, named in zip(plain, is_name, strict=True) if not named]
    kinds = {
        kind: {vocabulary[word][1] for word in common if vocabulary.get(word, ("",))[0] == kind} for kind in _KINDS
    }
    return NeedShape(
        language=code,
        open=asking,
        names=tuple(word for word, named in zip(plain, is_name, strict=True) if named),
        values=tuple(sorted(str(value.readings[0]) for value in single(mentions(question, code)))),
        asked=frozenset(kinds["asked"]),
        marks=frozenset(kinds["marks"]),
        relations=frozenset(kinds["relations"]),
        direction=("did" in plain or "does" in plain, "by" in plain),
        rest=frozenset(word for word in common if word not in vocabulary),
    )


def same_need(need: str, known: Sequence[str], embed: Callable[[str], Vectors]) -> str | None:
    """The one of the `known` needs that asks for the same fact, the most similar one; None if none does."""
    wanted = shape(need)
    allowed = [other for other in known if wanted.allows(shape(other))]
    if not allowed:
        return None
    vector = embed(need)
    similarity, best = max((float(vector @ embed(other)), other) for other in allowed)
    return best if similarity >= THRESHOLD else None


_KINDS: Final = ("relations", "asked", "marks", "light")


@cache
def _vocabulary() -> dict[str, tuple[str, str]]:
    """Each word that has a meaning of its own: its kind, and the name that it shares with its synonyms."""
    text = resources.files("iterative_rag.retrieval").joinpath("relation_words.toml").read_text(encoding="utf-8")
    held = tomllib.loads(text)
    return {
        word: (kind, name) for kind in reversed(_KINDS) for name, words in held[kind].items() for word in words.split()
    }


def _is_name(word: str, *, first: bool) -> bool:
    """Whether a word is part of a name: it has a digit, or a capital although it is not the first word."""
    return any(map(str.isdigit, word)) or (word[0].isupper() and not first)


def _without_possessive(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)
