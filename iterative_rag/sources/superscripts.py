"""Raised and lowered characters as plain text that nobody reads as part of the number or the word before them."""

from __future__ import annotations

import re

from iterative_rag.text.units import unit_of

_WORD = re.compile(r"[^\W\d_]+\Z")
_NUMBER = re.compile(r"\d(?:[\d.,'’\u00a0\u202f]*\d)?\Z")
_IN_BRACKETS = re.compile(r"\(([^()]*)\)\Z")
_DIGITS = re.compile(r"\d{1,3}")
_SIGNED = re.compile(r"[-+]\w{1,4}|\w{0,3}[-+]")  # of a power or an ion, never of a note
_SEVERAL = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)+")
_NOTES = re.compile(r"[\w*†‡§¶#](?:\w*\s*,\s*\w+)*|\d+")  # in parentheses
_SYMBOLS = re.compile(r"[*†‡§¶#]+")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
_DEGREES = re.compile(r"\s?[CFNSEW](?!\w)")
_ROMAN = re.compile(r"[IVXLCDM]+")
_FUNCTIONS = frozenset({"sin", "cos", "tan", "log", "ln", "exp"})
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
    if mark[0] == "(" and not is_note and not _NOTES.fullmatch(bare):
        return mark  # the points of a tie-break, 7–6<sup>(7–4)</sup>, stay apart by themselves
    if is_note or mark[0] in "^[(" or _SEVERAL.fullmatch(mark) or _SYMBOLS.fullmatch(mark):
        return f"[{bare}]"
    if mark in ("o", "O", "0") and before[-1:].isdigit() and _DEGREES.match(after):
        return "°"
    if after[:1] in ("/", "⁄"):  # a fraction, after a whole number or alone
        return f" {mark}" if before[-1:].isdigit() else mark
    if _SIGNED.fullmatch(mark):
        return f"^{mark}"
    word = _WORD.search(before)
    if before[-1:].isspace() and not _DIGITS.fullmatch(mark):
        return mark
    if not mark[0].isdigit():
        return _letters(mark, before, word[0] if word else "")
    if not _DIGITS.fullmatch(mark):
        return f"^{mark}" if mark.isalnum() or "." in mark else f"^({mark})"
    if not _is_power(before, word[0] if word else ""):
        lone = bool(before) and before[-1].isspace() and _ISOTOPE.match(after)
        return mark if lone else f"[{mark}]"
    return _SQUARED.get(mark, f"^{mark}") if word else f"^{mark}"


def lowered(mark: str, before: str, after: str = "") -> str:
    """What to write for a subscript: "H2O", but "1010_2"."""
    mark = " ".join(mark.split())
    if before[-1:].isdigit() and mark:
        return f"_{mark}"
    return f"{mark} " if mark[-1:].isdigit() and after[:1].isdigit() else mark


def _is_power(before: str, word: str) -> bool:
    """Whether digits that are raised after this text are an exponent, and no note mark."""
    if word:
        return len(word) == 1 or word in _FUNCTIONS or (len(word) <= _UNIT_CHARS and bool(unit_of(word)))
    if number := _NUMBER.search(before):
        return number[0] == "10" or len(number[0]) == 1
    term = _IN_BRACKETS.search(before)
    return term is not None and not re.search(r"[^\W\d_]{3}", term[1])


def _letters(mark: str, before: str, word: str) -> str:
    number = _NUMBER.search(before)
    if len(mark) == 1:
        noted = len(word) > 2 and not _ROMAN.fullmatch(word)
        if noted or (number and len(number[0]) > 2):
            return f"[{mark}]"
        return f"^{mark}" if len(word) == 1 and mark in _EXPONENT_LETTERS else mark
    if mark.isalpha() and len(mark) <= 5:  # "1st", "Mme", but "Velm TM"
        return f" {mark}" if mark.isupper() and len(word) > 1 else mark
    return f"^{mark}" if mark.isalnum() and (word or number) else f"^({mark})" if len(mark) <= 8 else f"[{mark}]"
