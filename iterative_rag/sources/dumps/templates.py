"""Templates rendered by their meaning: measures, dates, names in other scripts, lists. Others leave their arguments.

A template's source is another page, often a program, and not at hand; so the meaning of the common ones is written down
in `templates.toml`, and that of others is taken from the shape of their arguments. They render to wikitext.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from iterative_rag.sources.dumps.infobox import infobox, is_content, is_infobox
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of, month_name


@dataclass(frozen=True, slots=True)
class Arguments:
    """A template's values by position and by name (lower case), trimmed; its own name; the language of its wiki.

    `written` are the names as they were written.
    """

    name: str
    values: tuple[str, ...]
    named: dict[str, str]
    language: str
    written: dict[str, str] = field(default_factory=dict)

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
_POWERS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))


@cache
def _meanings() -> tuple[dict[str, Render], dict[str, Render]]:
    """What a name means; what the beginning of a name means."""
    exact: dict[str, Render] = {}
    prefixes: dict[str, Render] = {}
    shown = [(_shown_as(text) if text else _nothing, names) for text, names in _data()["formats"].items()]
    for render, names in [*shown, *((_FUNCTIONS[key], names) for key, names in _data()["functions"].items())]:
        for name in " ".join(names.split()).split(" | "):
            (prefixes if name.endswith("*") else exact)[name.rstrip("*")] = render
    return exact, prefixes


def expand(given: Arguments, *, alone: bool) -> tuple[str, bool]:
    """A template's wikitext, and whether its meaning is known; `alone` on its line it is a box or a notice."""
    name = " ".join(given.name.replace("_", " ").split()).rpartition("emplate:")[2]
    lower = name.lower()
    exact, prefixes = _meanings()
    values = given.all()
    if is_infobox(lower):
        return infobox(given.named, given.written), True
    if (word := _data()["words"].get(lower)) is not None:
        return (values[0] if values and word[-1:].isalpha() else word), True
    meaning = exact.get(lower) or next((prefixes[start] for start in prefixes if lower.startswith(start)), None)
    if meaning is _nothing or lower.endswith("stub"):
        quoted = lower in ("citation", "cita") and not given.named  # a quotation in other languages
        return "".join(values[:1]) if quoted else "", True
    if lower == "s" and given.language != "en":
        meaning = None  # elsewhere it strikes nothing
    if meaning is not None and ((text := meaning(given)) or meaning is _coordinates):
        return text, True
    if _CODE.fullmatch(name) and not _CODE.match(given.at(0)):  # {{FRA}}, {{HMS|Auk|1950}}, {{ISBN|1}}
        return f"{name} {given.at(0)}".strip(), True
    return _arguments(given, name, alone), bool(_CODE.fullmatch("".join(values)) and not given.named)


def _arguments(given: Arguments, name: str, alone: bool) -> str:
    """What is left of a template that is not known: its arguments, else its name within a text."""
    values = given.all()
    named = {key: value for key, value in given.named.items() if not key.isdigit() and is_content(key, value)}
    if not values and not named:
        return "" if alone else name.rstrip("0123456789 ")
    if alone and len(named) > 2:
        return infobox({**named, **{f"{n}": value for n, value in enumerate(values, start=1)}}, given.written)
    text = (" " if values and _NUMBER.fullmatch(values[0]) else ", ").join(values)
    return "; ".join(filter(None, (text, *(f"{key}: {value}" for key, value in named.items()))))


def _nothing(_: Arguments) -> str:
    return ""


def _shown_as(text: str) -> Render:
    def render(given: Arguments) -> str:
        values = given.all()
        fields = {"last": "".join(values[-1:]), "all": " ".join(values), "glued": "".join(values)}
        first = given.at(0) or given.get("text", "content")
        if "{date}" in text:
            fields["date"] = _date(given)
        return text.format(first, given.at(1) or ("" if "{0}" in text else first), **fields).strip()

    return render


# --- measures --------------------------------------------------------------------------------


def _unit(code: str) -> str:
    units = _data()["units"]
    if code[:2] in ("e3", "e6", "e9"):
        return f"{units[code[:2]]} {_unit(code[2:])}"
    return str(units.get(code) or units.get(code.lower() if len(code) > 1 else code, code))


def _measure(given: Arguments) -> str:
    """{{convert|5|to|10|km|mi}} -> "5 to 10 km": as it was measured, without the conversion."""
    text, *values = given.values or ("",)
    ranges = _data()["ranges"]
    while len(values) > 1 and values[0].lower() in ranges:
        text += ranges[values[0].lower()] + values[1]
        del values[:2]
    text += "".join(f" {_unit(value)}" for value in values[:1])
    if len(values) > 2 and _NUMBER.fullmatch(values[1]):
        text += f" {values[1]} {_unit(values[2])}"  # 5 ft 10 in
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
    """A number; only in English its digits are grouped by a sign that parts no decimals elsewhere."""
    whole, point, decimals = given.at(0).partition(".")
    plain = given.language == "en" and whole.isascii() and whole.isdigit() and 4 <= len(whole) < 40
    return f"{int(whole):,}{point}{decimals}" if plain else " ".join(given.all())


def _fraction(given: Arguments) -> str:
    parts = given.all()
    whole = f"{parts.pop(0)} " if len(parts) > 2 else ""
    return whole + "/".join(parts if len(parts) > 1 else ["1", *parts])


def _coordinates(given: Arguments) -> str:
    """{{coord|51|30|26|N|0|7|39|W}} -> "51°30′26″N 0°7′39″W"; "" where the page shows it beside the title only."""
    if "inline" not in given.get("display") and given.get("display") not in ("", "i", "it", "ti"):
        return ""
    text, signs = "", "°′″"
    for part in given.values:
        if part.upper() in ("N", "S", "E", "W"):
            text, signs = f"{text}{part.upper()} ", "°′″"
        elif _NUMBER.fullmatch(part) and signs:
            text, signs = text + part + signs[0], signs[1:]
    if not re.search("[NSEW]", text):
        text = ", ".join(f"{part}°" for part in given.values[:2] if _NUMBER.fullmatch(part))
    return text.strip()


def _minutes(given: Arguments) -> str:
    """{{goal|12||45|pen.}} -> "12', 45' (pen.)"; of a card also its name."""
    values = [value for value in given.values if value not in ("", "0")]
    times = [f"{value}'" if re.fullmatch(r"\d+(?:\+\d+)?", value) else f"({value})" for value in values]
    name = "" if given.name.lower() in ("goal", "гол") else given.name
    return f"{name} {', '.join(times).replace(', (', ' (')}".strip()


# --- dates and lives -------------------------------------------------------------------------


def _numbers_of_date(parts: Sequence[str], language: str) -> tuple[int, int, int] | None:
    """Year, month and day of {{...|1934|5|14}}, {{...|14|May|1934}} or {{...|1934-05-14}}; 0 for what is not said."""
    if len(parts) == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d", parts[0]):
        parts = parts[0].split("-")
    parts = [part.strip(". ") for part in parts[:3]]
    if len(parts) > 2 and len(parts[0]) < 3 <= len(parts[2]):
        parts.reverse()
    year, month, day = [*parts, "", "", ""][:3]
    number = language_of(language).months.get(folded(month), 0) or (int(month) if re.fullmatch("[0-9]+", month) else 0)
    if not re.fullmatch("[0-9]{1,4}", year) or number > 12 or (month and not number):
        return None
    return int(year), number, int(day) if re.fullmatch("[0-9]{1,2}", day) else 0


def _written(parts: Sequence[str], language: str) -> str:
    """A date as the wiki's language writes it; the parts as they are where they are no date."""
    numbers = _numbers_of_date(parts, language)
    if numbers is None:
        return " ".join(parts)
    year, month, day = numbers
    name = month_name(language, month) if month else ""
    if month and not name:
        return "-".join([f"{year}", f"{month:02}", *([f"{day:02}"] if day else [])])
    of = " de " if language in ("es", "pt") else " "
    return of.join(filter(None, (f"{day}." if day and language == "de" else f"{day or ''}", name, f"{year}")))


def _date(given: Arguments) -> str:
    named = [given.get("year", "jahr", "año"), given.get("month", "monat", "mes"), given.get("day", "tag", "día")]
    return _written(given.all() or [part for part in named if part], given.language)


def _age(given: Arguments) -> str:
    """Between two dates, also that of a death, which comes first; with one date it depends on the day of reading."""
    parts, language = given.all(), given.language
    at_death = "death" in given.name.lower() or given.name.lower() == "dda"
    begin, end = (parts[3:6], parts[:3]) if at_death else (parts[:3], parts[3:6])
    born, until = _numbers_of_date(begin, language), _numbers_of_date(end, language)
    known = born and until and born[2] and until[2]
    years = until[0] - born[0] - (until[1:] < born[1:]) if known and born and until else None
    if at_death:
        return _written(end, language) + ("" if years is None else f" (aged {years})")
    return f"(* {_written(begin, language)})" if years is None else str(years)


def _marriage(given: Arguments) -> str:
    """{{marriage|Ann|1950|1960|end=div}} -> "Ann (m. 1950; end: div 1960)"."""
    begin, end, reason = given.at(1), given.at(2), given.get("end", "reason").rstrip(".")
    ended = f"{reason}{'.' if len(reason) < 4 else ''} {end}".strip() if reason else f"until {end}"
    when = "; ".join(filter(None, (f"m. {begin}" if begin else "", ended if end or reason else "")))
    return f"{given.at(0)} ({when})" if when else given.at(0)


# --- words and lists -------------------------------------------------------------------------


def _foreign(given: Arguments) -> str:
    """{{nihongo|Lamp|灯|tō}} -> "Lamp (灯, tō)"."""
    first, *others = given.all() or [""]
    return f"{first} ({', '.join(others)})" if others else first


def _list(mark: str) -> Render:
    """The arguments as a list in wikitext; a single one may be a list already."""

    def render(given: Arguments) -> str:
        entries = given.all()
        if start := given.get("start"):
            return f'<ol start="{start}"><li>{"<li>".join(entries)}</ol>'
        if len(entries) == 1 and (not mark or entries[0][:1] in ("*", "#")):
            return f"\n{entries[0]}\n" if "\n" in entries[0] or entries[0][:1] in ("*", "#") else entries[0]
        return "\n" + "\n".join(f"{mark or '*'} {' '.join(entry.split())}" for entry in entries) + "\n"

    return render


def _quote(given: Arguments) -> str:
    text, author = given.get("text", "quote") or given.at(0), given.get("author", "sign", "by") or given.at(1)
    return f"<blockquote>{text}{f' — {author}' if author else ''}</blockquote>" if text else ""


_FUNCTIONS: dict[str, Render] = {
    "measure": _measure, "quantity": _quantity, "value": _value, "grouped": _grouped, "fraction": _fraction,
    "height": lambda given: " ".join(f"{given.get(u)} {u}" for u in ("m", "cm", "ft", "in") if given.get(u)),
    "coordinates": _coordinates, "minutes": _minutes, "date": _date, "age": _age, "marriage": _marriage,
    "web": lambda given: given.at(1) or given.at(0).partition("//")[2] or given.at(0),
    "foreign": _foreign, "bullets": _list("*"), "numbers": _list("#"), "line_list": _list(""), "quote": _quote,
}  # fmt: skip
