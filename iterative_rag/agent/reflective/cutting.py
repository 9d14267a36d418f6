"""Cuts an answer into claims: sentences, and the clauses of a sentence that carry a marker of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.agent.reflective.languages import MONTHS, folded
from iterative_rag.patterns import lazy_pattern

_MARKERS = lazy_pattern(r"(?:\s*\[\d{1,4}\])+")
_END = lazy_pattern(r"[.!?…]+[\"'”’»)]*(?P<marks>(?:\s*\[\d{1,4}\])*)(?=\s|$)|\n+")
_BEFORE = lazy_pattern(r"(?:^|[\s(\[„“\"«])(?P<word>[^\s(\[„“\"«]*)$")
_AFTER = lazy_pattern(r"\s*[\"'“„«(¿¡]*(?P<word>[\w-]*)")
# What stands before a full stop that ends no sentence; single letters and "z.B." need no list.
_SHORT = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "st",
        "jr",
        "sr",
        "prof",
        "gen",
        "col",
        "lt",
        "sgt",
        "capt",
        "rev",
        "hon",
        "ca",
        "cf",
        "vs",
        "approx",
        "est",
        "inc",
        "ltd",
        "co",
        "mt",
        "ft",
        "bzw",
        "geb",
        "gest",
        "jh",
        "jhd",
        "jhs",
        "usw",
        "ggf",
        "evtl",
        "vgl",
        "str",
        "hl",
        "mme",
        "mlle",
        "sra",
        "srta",
        "av",
        "etc",
        "ed",
        "eds",
        "trans",
        "sig",
        "dott",
    ]
)
# Those that only stand before a number: "No. 5", "Bd. 2".
_BEFORE_NUMBERS = frozenset(["no", "nos", "nr", "vol", "vols", "pp", "bd", "art", "fig", "ch", "sec"])
# "37: Oda Brenk was born ...": the bare answer before what it rests on.
_BARE = lazy_pattern(r"^(?P<bare>.{1,80}?)\s*:\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A claim as it stands in the answer, without markers; `cited` are its marker numbers, `sentence` counts from 0."""

    text: str
    cited: tuple[int, ...]
    sentence: int


def cut(text: str, short: str = "") -> tuple[Piece, ...]:
    """The claims of an answer in its order; its `short` answer is one of its own where it comes first ("37: ...")."""
    pieces: list[Piece] = []
    for n, sentence in enumerate(_sentences(text)):
        pieces += _clauses(sentence, n, short)
    return tuple(pieces)


def _sentences(text: str) -> list[str]:
    sentences, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, match):
            sentences.append(text[start : match.end()])
            start = match.end()
    sentences.append(text[start:])
    return [sentence.strip() for sentence in sentences if sentence.strip()]


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a stop ends a sentence: not after an initial, an abbreviation or a German ordinal."""
    if match[0].isspace():
        return True
    after = _AFTER.match(text, match.end())
    following = after["word"] if after else ""
    if match["marks"] or not following:
        return True
    if following[0].islower():
        return False
    if not match[0].startswith(".") or match[0].startswith(".."):
        return True
    before = _BEFORE.search(text[max(0, match.start() - 40) : match.start()])
    word = before["word"] if before else ""
    if word.isdigit() and len(word) <= 2:
        return folded(following) not in MONTHS and not _is_noun_after_ordinal(text, match.start())
    plain = folded(word)
    if plain in _BEFORE_NUMBERS:
        return not following[0].isdigit()
    return not ((len(plain.rsplit(".", 1)[-1].rsplit("-", 1)[-1]) == 1 and plain[-1:].isalpha()) or plain in _SHORT)


def _is_noun_after_ordinal(text: str, stop: int) -> bool:
    """ "im 19. Jahrhundert", "der 3. Präsident": the number has a German article before it."""
    return (
        re.search(r"\b(?:im|am|der|die|das|des|dem|den|zum|vom|beim)\s+\d{1,2}$", text[max(0, stop - 12) : stop], re.I)
        is not None
    )


def _clauses(sentence: str, n: int, short: str) -> list[Piece]:
    """The stretches of a sentence that end in a marker; what comes after the last one is a claim where it says more
    than a word or two."""
    pieces: list[Piece] = []
    start = 0
    bare = _BARE.match(sentence)
    if bare and short and folded(bare["bare"]).endswith(folded(short)):
        pieces.append(Piece(_tidy(bare["bare"]), (), n))
        start = bare.end()
    for match in _MARKERS.finditer(sentence, start):
        cited = tuple(int(number) for number in re.findall(r"\d+", match[0]))
        said = sentence[start : match.start()]
        if _says_something(said):
            pieces.append(Piece(_tidy(said), cited, n))
        elif pieces:
            pieces[-1] = Piece(pieces[-1].text, (*pieces[-1].cited, *cited), n)
        start = match.end()
    rest = sentence[start:]
    if _says_something(rest):
        pieces.append(Piece(_tidy(rest), (), n))
    return pieces


def _says_something(text: str) -> bool:
    return re.search(r"\w", text) is not None


def _tidy(text: str) -> str:
    return text.strip().lstrip(",;:—–. ").strip()
