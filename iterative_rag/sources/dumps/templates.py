"""Templates rendered by their meaning: measures, dates, names in other scripts, lists. Others leave their arguments.

A template's source is another page, often a program, and not at hand; so the meaning of the common ones is written down
in `templates.toml`, and that of others is taken from the shape of their arguments. They render to wikitext.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from iterative_rag.sources.dumps.infobox import infobox, is_content, is_infobox
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of, month_name


@dataclass(frozen=True, slots=True)
class Arguments:
    """A template's values by position and by name (lower case), trimmed; its own name; the language of its wiki."""

    name: str
    values: tuple[str, ...]
    named: dict[str, str]
    language: str

    def at(self, position: int) -> str:
        """The value at a position, from 0; also where it was written as `1=value`."""
        return self.named.get(str(position + 1)) or (self.values[position] if position < len(self.values) else "")

    def all(self) -> list[str]:
        """The positional values that are not empty, in order."""
        numbered = [value for name, value in self.named.items() if name.isdigit()]
        return [value for value in (*self.values, *numbered) if value]

    def get(self, *names: str) -> str:
        """The first of these arguments that is not empty, else ""."""
        return next((self.named[name] for name in names if self.named.get(name)), "")


Render = Callable[[Arguments], str]
_CODE = re.compile(r"[A-Z]{2,5}")
_NUMBER = re.compile(r"[-−+]?[\d,.]+(?:[/⁄]\d+|\+\d+/\d+|e[-+]?\d+)?", re.IGNORECASE)


def expand(given: Arguments, *, alone: bool) -> tuple[str, bool]:
    """A template's wikitext, and whether its meaning is known; `alone` on its line it is a box or a notice."""
    name = " ".join(given.name.replace("_", " ").split()).rpartition("emplate:")[2]
    words, exact, prefixes = _meanings()
    lower = name.lower()
    values = given.all()
    if is_infobox(lower):
        return infobox(given.named), True
    if lower in words:
        return (values[0] if values and words[lower][-1:].isalpha() else words[lower]), True
    meaning = exact.get(lower) or next((prefixes[key] for key in prefixes if lower.startswith(key)), None)
    if meaning is not None:
        return meaning(given), True
    if _CODE.fullmatch(name):  # {{FRA}}, {{HMS|Auk|1950}}, {{ISBN|1}}
        return f"{name} {given.at(0)}".strip(), True
    return _arguments(given, name, alone), bool(_CODE.fullmatch("".join(values)) and not given.named)


def _arguments(given: Arguments, name: str, alone: bool) -> str:
    """What is left of a template that is not known: its arguments, else its name within a text."""
    values = given.all()
    named = {key: value for key, value in given.named.items() if not key.isdigit() and is_content(key, value)}
    if not values and not named:
        return "" if alone else name.rstrip("0123456789 ")
    if alone and len(named) > 2:
        return infobox({**named, **{f"{n}": value for n, value in enumerate(values, start=1)}})
    text = (" " if values and _NUMBER.fullmatch(values[0]) else ", ").join(values)
    return "; ".join(filter(None, (text, *(f"{key}: {value}" for key, value in named.items()))))


@cache
def _meanings() -> tuple[dict[str, str], dict[str, Render], dict[str, Render]]:
    """Words; what a name means; what the beginning of a name means."""
    data = tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))
    exact: dict[str, Render] = {}
    prefixes: dict[str, Render] = {}
    meanings = [(_shown_as(text), names) for text, names in data["formats"].items()]
    for render, names in [*meanings, *((_FUNCTIONS[key], names) for key, names in data["functions"].items())]:
        for name in map(str.strip, names.split(" | ") if "\n" not in names else " ".join(names.split()).split(" | ")):
            (prefixes if name.endswith("*") else exact)[name.rstrip("*")] = render
    return data["words"], exact, prefixes


def _shown_as(text: str) -> Render:
    def render(given: Arguments) -> str:
        values = given.all()
        fields = {"last": values[-1] if values else "", "all": " ".join(values), "glued": "".join(values)}
        first = given.at(0) or (given.get("text", "content") if not values else "")
        return text.format(first, given.at(1) or ("" if "{0}" in text else first), **fields)

    return render


# --- measures --------------------------------------------------------------------------------

_UNITS = {
    "km2": "km²", "sqkm": "km²", "m2": "m²", "sqm": "m²", "mi2": "sq mi", "sqmi": "sq mi", "ft2": "sq ft",
    "sqft": "sq ft", "cm2": "cm²", "m3": "m³", "km3": "km³", "ft3": "cu ft", "cuft": "cu ft", "C": "°C", "F": "°F",
    "c": "°C", "f": "°F", "kmh": "km/h", "kph": "km/h", "m3/s": "m³/s", "cuft/s": "cu ft/s", "/km2": "per km²",
    "/sqmi": "per sq mi", "long ton": "long tons", "LT": "long tons", "nmi": "nautical miles",
}  # fmt: skip
_SCALES = {"e3": "thousand ", "e6": "million ", "e9": "billion "}
_RANGES = {
    "to": " to ", "-": "–", "–": "–", "to-": "–", "and": " and ", "&": " and ", "or": " or ", "x": " × ", "×": " × ",
    "by": " by ", "xx": " × ", "+": " + ", "±": " ± ", "+/-": " ± ", "to about": " to about ", ",": ", ",
}  # fmt: skip
_POWERS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _unit(code: str) -> str:
    scale = _SCALES.get(code[:2], "")
    code = code[2:] if scale else code
    return scale + _UNITS.get(code, _UNITS.get(code.lower(), code) if len(code) > 1 else code)


def _measure(given: Arguments) -> str:
    """{{convert|5|to|10|km|mi}} -> "5 to 10 km": as it was measured, without the conversion."""
    values = list(given.values)
    text = values[0] if values else ""
    at = 1
    while at + 1 < len(values) and values[at].lower() in _RANGES:
        text += _RANGES[values[at].lower()] + values[at + 1]
        at += 2
    if at < len(values):
        text += f" {_unit(values[at])}"
    if at + 2 < len(values) and _NUMBER.fullmatch(values[at + 1]):
        text += f" {values[at + 1]} {_unit(values[at + 2])}"  # 5 ft 10 in
    return text.strip()


def _quantity(given: Arguments) -> str:
    """{{unité|5|km|2}} -> "5 km²"."""
    text, *units = given.values or ("",)
    for unit in units:
        text += unit.translate(_POWERS) if re.fullmatch(r"-?\d", unit) and text[-1:].isalpha() else f" {unit}"
    return " ".join(text.split())


def _value(given: Arguments) -> str:
    error, power = given.at(1), given.get("e")
    text = given.at(0) + (f" ± {error}" if error else "") + (f" × 10<sup>{power}</sup>" if power else "")
    return " ".join(filter(None, (text, given.get("u", "ul", "upl"))))


def _grouped(given: Arguments) -> str:
    """A number as the wiki writes it: only English ones group with a sign that separates no decimals elsewhere."""
    text = given.at(0)
    whole, point, decimals = text.partition(".")
    plain = given.language == "en" and whole.isascii() and whole.isdigit() and 4 <= len(whole) < 40
    return f"{int(whole):,}{point}{decimals}" if plain else " ".join(given.all())


def _height(given: Arguments) -> str:
    return " ".join(f"{given.get(unit)} {unit}" for unit in ("m", "cm", "ft", "in") if given.get(unit))


def _fraction(given: Arguments) -> str:
    parts = given.all()
    if len(parts) == 1:
        return f"1/{parts[0]}"
    return f"{parts[0]} {parts[1]}/{parts[2]}" if len(parts) > 2 else "/".join(parts)


def _coordinates(given: Arguments) -> str:
    """{{coord|51|30|26|N|0|7|39|W}} -> "51°30′26″N 0°7′39″W"; "" where the page shows it beside the title only."""
    if "inline" not in given.get("display") and given.get("display") not in ("", "i", "it", "ti"):
        return ""
    text, count = "", 0
    for part in given.values:
        if part.upper() in ("N", "S", "E", "W"):
            text += f"{part.upper()} "
            count = 0
        elif _NUMBER.fullmatch(part) and count < 3:
            text += part + "°′″"[count]
            count += 1
    if not re.search("[NSEW]", text):
        text = ", ".join(f"{part}°" for part in given.values[:2] if _NUMBER.fullmatch(part))
    return text.strip()


def _minutes(given: Arguments) -> str:
    """{{goal|12||45|pen.}} -> "12', 45' (pen.)"; of a card also its name."""
    times = [f"{one}'" if one.isdigit() else f"({one})" for one in given.values if one and one != "0"]
    text = ", ".join(times).replace(", (", " (")
    return text if given.name.strip().lower() in ("goal", "гол") else f"{given.name.strip()} {text}".strip()


# --- dates and lives -------------------------------------------------------------------------

_YEAR = re.compile(r"\d{3,4}")


def _numbers_of_date(parts: Sequence[str], language: str) -> tuple[int, int, int] | None:
    """Year, month and day of {{...|1934|5|14}}, {{...|14|May|1934}} or {{...|1934-05-14}}; 0 for what is not said."""
    if len(parts) == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d", parts[0]):
        parts = parts[0].split("-")
    if len(parts) > 2 and not _YEAR.fullmatch(parts[0]) and _YEAR.fullmatch(parts[2]):
        parts = [parts[2], parts[1], parts[0]]
    year, month, day = [*(part.strip(". ").lower() for part in parts[:3]), "", "", ""][:3]
    number = (
        int(month)
        if month.isascii() and month.isdigit()
        else language_of(language).months.get(folded(month), 0) or (0 if not month else 99)
    )
    if not (year.isascii() and year.isdigit() and len(year) < 5) or number > 12:
        return None
    return int(year), number, int(day) if number and day.isascii() and day.isdigit() and len(day) < 3 else 0


def _written(parts: Sequence[str], language: str) -> str:
    """A date as the wiki's language writes it; the first part as it is where it is no date."""
    numbers = _numbers_of_date(parts, language)
    if numbers is None:
        return " ".join(parts) if len(parts) < 4 else parts[0]
    year, month, day = numbers
    name = month_name(language, month) if month else ""
    if month and not name:
        return "-".join(filter(None, (str(year), f"{month:02}", f"{day:02}" if day else "")))
    of = " de " if language in ("es", "pt") else " "
    return of.join(filter(None, (f"{day}." if day and language == "de" else str(day or ""), name, str(year))))


def _date(given: Arguments) -> str:
    named = [given.get("year", "jahr", "año"), given.get("month", "monat", "mes"), given.get("day", "tag", "día")]
    return _written(given.all() or [part for part in named if part], given.language)


def _years(born: Sequence[str], until: Sequence[str], language: str) -> int | None:
    begin, end = _numbers_of_date(born, language), _numbers_of_date(until, language)
    return end[0] - begin[0] - (end[1:] < begin[1:]) if begin and end and begin[2] and end[2] else None


def _lived(given: Arguments) -> str:
    parts = given.all()
    years = _years(parts[3:6], parts[:3], given.language)
    return _written(parts[:3], given.language) + (f" (aged {years})" if years is not None else "")


def _age(given: Arguments) -> str:
    """Between two dates; with one it depends on the day of reading, and the birth is said."""
    parts = given.all()
    years = _years(parts[:3], parts[3:6], given.language)
    return str(years) if years is not None else f"(* {_written(parts[:3], given.language)})"


def _marriage(given: Arguments) -> str:
    """{{marriage|Ann|1950|1960|end=div}} -> "Ann (m. 1950; div. 1960)"."""
    begin, end, reason = given.at(1), given.at(2), given.get("end", "reason").rstrip(".")
    short = {"divorced": "div", "died": "died", "death": "died", "widowed": "died", "separated": "sep"}
    reason = short.get(reason, reason)
    ended = f"{reason}{'' if reason == 'died' else '.'} {end}".strip() if reason else f"until {end}"
    when = "; ".join(filter(None, (f"m. {begin}" if begin else "", ended if end or reason else "")))
    return f"{given.at(0)} ({when})" if when else given.at(0)


def _as_of(given: Arguments) -> str:
    return given.get("alt") or f"{'as of' if given.get('lc') else 'As of'} {_date(given)}"


# --- words and lists -------------------------------------------------------------------------


def _foreign(given: Arguments) -> str:
    """{{nihongo|Lamp|灯|tō}} -> "Lamp (灯, tō)"."""
    first, *others = given.all() or [""]
    return f"{first} ({', '.join(others)})" if others else first


def _web(given: Arguments) -> str:
    return given.at(1) or given.at(0).partition("//")[2] or given.at(0)


def _list(mark: str) -> Render:
    """The arguments, or the only one, as a list in wikitext."""

    def render(given: Arguments) -> str:
        entries = given.all()
        if len(entries) == 1 and entries[0][:1] in ("*", "#"):
            return f"\n{entries[0]}\n"
        return "\n" + "\n".join(f"{mark} {' '.join(entry.split())}" for entry in entries) + "\n" if entries else ""

    return render


def _line_list(given: Arguments) -> str:
    text = given.at(0)
    return f"\n{text}\n" if "\n" in text or text[:1] in ("*", "#") else text


def _quote(given: Arguments) -> str:
    text, author = given.get("text", "quote") or given.at(0), given.get("author", "sign", "by") or given.at(1)
    return f"<blockquote>{text}{f' — {author}' if author else ''}</blockquote>" if text else ""


_FUNCTIONS: dict[str, Render] = {
    "measure": _measure, "quantity": _quantity, "value": _value, "grouped": _grouped, "height": _height,
    "altitude": lambda given: f"{given.at(0)} m", "fraction": _fraction, "coordinates": _coordinates, "date": _date,
    "lived": _lived, "age": _age, "marriage": _marriage, "as_of": _as_of, "foreign": _foreign, "web": _web,
    "minutes": _minutes, "line_list": _line_list, "bullets": _list("*"), "numbers": _list("#"), "quote": _quote,
}  # fmt: skip
