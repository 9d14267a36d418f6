"""Raised and lowered characters as plain text that nobody reads as part of the number or the word before them."""

from __future__ import annotations

import re

from iterative_rag.text.units import unit_of

_WORD = re.compile(r"[^\W\d_]+\Z")
_NUMBER = re.compile(r"\d(?:[\d.,'’\u00a0\u202f]*\d)?\Z")
_SIGNED = re.compile(r"[-+]\w{1,4}|\w{0,3}[-+]")  # of a power or an ion, never of a note
_NOTES = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)+|[*†‡§¶#]+")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
_EXPONENT_LETTERS = frozenset("nkxyijpq")
_UNIT_CHARS = 3  # the longest symbol of a unit that is raised: "ft²"; after "hectares" stands a note
_SQUARED = {"2": "²", "3": "³"}


def raised(mark: str, before: str, after: str = "", *, is_note: bool = False) -> str:
    """What to write for a superscript between two texts: "[3]" for a note, "^6" for a power, "²" after a unit.

    `is_note`: the document says so, for example by a link to the note.
    """
    mark = " ".join(mark.split()).replace("\u2212", "-")
    bare = mark.strip("^[]() ")
    if not bare:
        return f"[{mark}]" if mark else ""
    if is_note or mark[0] in "^[(" or _NOTES.fullmatch(mark):
        return f"[{bare}]"
    if after[:1] in ("/", "⁄"):  # a fraction, after a whole number or alone
        return f" {mark}" if before[-1:].isdigit() else mark
    if _SIGNED.fullmatch(mark):
        return f"^{mark}"
    match = _WORD.search(before)
    word = match[0] if match else ""
    if not mark.isdecimal() or len(mark) > 3:
        if len(word) == 1 and (mark in _EXPONENT_LETTERS or not mark.isalpha()):
            return f"^{mark}" if mark.isalnum() else f"^({mark})"
        return mark
    if _is_power(before, word):
        return _SQUARED.get(mark, f"^{mark}") if word else f"^{mark}"
    lone = before[-1:].isspace() and _ISOTOPE.match(after)
    return mark if lone else f"[{mark}]"


def lowered(mark: str, before: str) -> str:
    """What to write for a subscript: "H2O", but "1010_2"."""
    mark = " ".join(mark.split())
    return f"_{mark}" if before[-1:].isdigit() and mark else mark


def _is_power(before: str, word: str) -> bool:
    """Whether digits that are raised after this text are an exponent, and no note mark."""
    if word:
        return len(word) == 1 or (len(word) <= _UNIT_CHARS and bool(unit_of(word)))
    number = _NUMBER.search(before)
    return (number is not None and (number[0] == "10" or len(number[0]) == 1)) or before.endswith(")")
