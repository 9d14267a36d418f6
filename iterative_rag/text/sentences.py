"""Where the sentences of a text end: not after an initial, an abbreviation or a German ordinal."""

from __future__ import annotations

import re

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of, words_of
from iterative_rag.text.patterns import lazy_pattern

# A stop with what closes behind it; markers of facts ("[1]") belong to the sentence before them.
_END = lazy_pattern(r"[.!?…]+[\"'”’»)]*(?P<marks>(?:\s*\[\d{1,4}\])*)(?=\s|$)|\n+")
_BEFORE = lazy_pattern(r"(?:^|[\s(\[„“\"«])(?P<word>[^\s(\[„“\"«]*)$")
_AFTER = lazy_pattern(r"\s*[\"'“„«(¿¡]*(?P<word>[\w-]*)")
_ARTICLE = lazy_pattern(r"\b(?:im|am|der|die|das|des|dem|den|zum|vom|beim)\s+\d{1,2}$", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a line is one, too."""
    found, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, match):
            found.append(text[start : match.end()])
            start = match.end()
    found.append(text[start:])
    return [sentence.strip() for sentence in found if sentence.strip()]


def _ends(text: str, match: re.Match[str]) -> bool:
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
        ordinal = _ARTICLE.search(text[max(0, match.start() - 12) : match.start()]) is not None
        return folded(following) not in language_of("").months and not ordinal
    plain = folded(word)
    if plain in words_of("abbreviations_before_numbers"):
        return not following[0].isdigit()
    if plain in language_of("").months and following[0].isdigit():
        return False  # "Sept. 5"
    single = len(plain.rsplit(".", 1)[-1].rsplit("-", 1)[-1]) == 1 and plain[-1:].isalpha()
    return not (single or plain in words_of("abbreviations"))
