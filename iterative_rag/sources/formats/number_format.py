"""Values as a spreadsheet shows them: percent, currency, thousands, durations, leading zeros.

The maintained library that does it (xlsx2html) brings a database of all languages, of more than 30 MB.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])+|(?<=;)(?=;|$)')
# Text in quotes or after a backslash; a currency; other brackets, gaps and filling; what stands for the number.
_PIECE = re.compile(r'"([^"]*)"|\\(.)|\[\$([^-\]]*)[^\]]*\]|\[[^\]]*\]|[_*].|(General|[0#?.,%])|(.)', re.IGNORECASE)
# Signs for a number, told apart from the same characters as text: digits, point, comma, percent, and "as it is".
_SIGNS = dict(zip("0#?.,%G", "\ue000\ue001\ue002\ue003\ue004\ue005\ue006", strict=True))
_CORE = re.compile("[\ue000-\ue004](?:.*[\ue000-\ue004])?")
_SCALED = re.compile("(?<=[\ue000-\ue003])\ue004+(?![\ue000-\ue002])")
# Fractions and powers of ten are shown as plain numbers.
_AS_IT_IS = re.compile("[\ue000-\ue002] */|E[+-]")
_DIGIT = re.compile("[\ue000-\ue002]")
_THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")


def as_shown(value: Any, code: str) -> str:
    """A value of a cell under its number format. Days are ISO dates, times of day HH:MM, durations H:MM."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return number_as_shown(value, code)
        case timedelta():
            seconds = round(value.total_seconds())
            sign, seconds = "-" * (seconds < 0), abs(seconds)
            rest = f":{seconds % 60:02}" if "s" in code.lower() or seconds % 60 else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}{rest}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds" if value.second else "minutes")
        case time():
            return value.isoformat("seconds" if value.second else "minutes")
        case date():
            return value.isoformat()
    return str(value)


def number_as_shown(value: float | str, code: str) -> str:
    """A number under a format such as `0.0%`; as it is without a format, and what is no number."""
    plain = f"{value:.15g}" if isinstance(value, float) else str(value)
    if code in ("", "General", "@"):
        return plain
    try:
        number = Decimal(plain)
    except ArithmeticError:
        return plain
    section, shown = _chosen(number, code) if number.is_finite() else ("\ue006", number)
    return " ".join(_filled(section, shown, plain).split()) or plain  # a format may hide its number


def _chosen(number: Decimal, code: str) -> tuple[str, Decimal]:
    """The section of a format for a number, and the number that it shows: a section for negative ones has the sign."""
    sections = _sections(code)
    if number > 0 or len(sections) == 1 or (number == 0 and len(sections) == 2):
        return sections[0], number
    return sections[1 if number < 0 else 2], abs(number)


@lru_cache(1024)
def _sections(code: str) -> list[str]:
    """The sections of a format, with signs for the places of the number."""
    return [
        _PIECE.sub(
            lambda piece: _SIGNS[piece[4][0].upper()] if piece[4] else "".join(filter(None, piece.groups())), section
        )
        for section in _SECTION.findall(code)[:3] or [""]
    ]


def _filled(section: str, number: Decimal, plain: str) -> str:
    scaled = _SCALED.search(section)
    if scaled:
        section, number = section.replace(scaled[0], "", 1), number.scaleb(-3 * len(scaled[0]))
    number = number.scaleb(2 * section.count("\ue005"))
    if _AS_IT_IS.search(section):
        return plain
    if core := _CORE.search(section):
        match, digits = core, _as_digits(number, core[0])
    else:
        return section.replace("\ue006", plain).replace("\ue005", "%")
    minus = "-" if number < 0 and re.search("[1-9]", digits) else ""
    shown = minus + section[: match.start()] + digits.removeprefix("-") + section[match.end() :]
    return shown.replace("\ue005", "%")


def _as_digits(number: Decimal, core: str) -> str:
    whole, _, part = core.partition("\ue003")
    most = len(_DIGIT.findall(part))
    least = max((at for at, sign in enumerate(_DIGIT.findall(part), 1) if sign != "\ue001"), default=0)
    rounded = abs(number).quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP) if most or number % 1 else abs(number)
    digits, _, decimals = f"{rounded:f}".partition(".")
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    places = [digit.start() for digit in _DIGIT.finditer(whole)]
    zeros = [at for at, offset in enumerate(places) if whole[offset] == "\ue000"]
    digits = ("" if digits == "0" else digits).zfill(len(places) - zeros[0] if zeros else 0)
    if "\ue004" in whole:
        digits = _THOUSANDS.sub(",", digits)
    return f"{digits}.{decimals}" if decimals else digits or "0" * bool(zeros)
