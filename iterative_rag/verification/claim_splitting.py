"""Cuts an answer into claims: sentences, and the clauses of a sentence that carry a marker of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentences

_MARKERS = lazy_pattern(r"(?:\s*\[\d{1,4}\])+")
# "37: Oda Brenk was born ...": the bare answer before what it rests on.
_BARE = lazy_pattern(r"^(?P<bare>.{1,80}?)\s*:\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A claim as it stands in the answer, without markers; `cited` are its marker numbers, `sentence` counts from 0."""

    text: str
    cited: tuple[int, ...]
    sentence: int


def split_claims(text: str, short: str = "") -> tuple[ClaimText, ...]:
    """The claims of an answer in its order; its `short` answer is one of its own where it comes first ("37: ...")."""
    claims: list[ClaimText] = []
    for n, sentence in enumerate(sentences(text)):
        claims += _clauses(sentence, n, short)
    return tuple(claims)


def _clauses(sentence: str, n: int, short: str) -> list[ClaimText]:
    """The stretches of a sentence that end in a marker; what comes after the last one is a claim where it says more
    than a word or two."""
    claims: list[ClaimText] = []
    start = 0
    bare = _BARE.match(sentence)
    if bare and short and folded(bare["bare"]).endswith(folded(short)):
        claims.append(ClaimText(_tidy(bare["bare"]), (), n))
        start = bare.end()
    for match in _MARKERS.finditer(sentence, start):
        cited = tuple(int(number) for number in re.findall(r"\d+", match[0]))
        said = sentence[start : match.start()]
        if _says_something(said):
            claims.append(ClaimText(_tidy(said), cited, n))
        elif claims:
            claims[-1] = ClaimText(claims[-1].text, (*claims[-1].cited, *cited), n)
        start = match.end()
    rest = sentence[start:]
    if _says_something(rest):
        claims.append(ClaimText(_tidy(rest), (), n))
    return claims


def _says_something(text: str) -> bool:
    return re.search(r"\w", text) is not None


def _tidy(text: str) -> str:
    return text.strip().lstrip(",;:—–. ").strip()
