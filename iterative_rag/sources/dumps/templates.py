"""Templates rendered by their meaning: measures, dates, names in other scripts, lists. Others leave their arguments.

A template's source is another page, often a program, and not at hand; so the meaning of the common ones is written down
in `templates.toml`. They render to wikitext.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from iterative_rag.text.dates import MONTHS
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of, month_name
from iterative_rag.text.patterns import table_beside


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
_NUMBER = re.compile(r"[-−+]?[\d,.]+")


@cache
def _table(kind: str) -> Mapping[str, str]:
    """What stands for each name in a table of `templates.toml`."""
    tables = table_beside(__file__, "templates.toml")
    return {name: text for text, names in tables[kind].items() for name in " ".join(names.split()).split(" | ")}


@cache
def _meanings() -> tuple[dict[str, Render], dict[str, Render]]:
    """What a name means; what the beginning of a name means."""
    meanings = {name: _shown_as(text) if text else _nothing for name, text in _table("formats").items()}
    meanings |= {name: _FUNCTIONS[key] for name, key in _table("functions").items()}
    prefixes = {name.rstrip("*"): render for name, render in meanings.items() if name.endswith("*")}
    return meanings, prefixes


def expand(given: Arguments, *, alone: bool) -> tuple[str, bool]:
    """A template's wikitext, and whether its meaning is known; `alone` on its line it is a box or a notice."""
    name = " ".join(given.name.replace("_", " ").split()).rpartition("emplate:")[2]
    lower = name.lower()
    exact, prefixes = _meanings()
    if lower.startswith(_STARTS) or lower.endswith("infobox") or lower in _BOXES:
        return infobox(given.named), True
    if (word := _table("words").get(lower)) is not None:
        return (given.at(0) or word if word[-1:].isalpha() else word), True
    meaning = exact.get(lower) or next((prefixes[start] for start in prefixes if lower.startswith(start)), None)
    if meaning is _nothing or lower.endswith("stub"):
        return "", True
    if meaning is not None and (text := meaning(given)):
        return text, True
    if _CODE.fullmatch(name) and not _CODE.match(given.at(0)):  # {{FRA}}, {{HMS|Auk|1950}}, {{ISBN|1}}
        return f"{name} {given.at(0)}".strip(), True
    return _arguments(given, name, alone), False


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


def _nothing(_: Arguments) -> str:
    return ""


def _shown_as(text: str) -> Render:
    def render(given: Arguments) -> str:
        values = given.all()
        first = given.at(0) or given.get("text", "content", "quote")
        fields = {"last": "".join(values[-1:]), "all": " ".join(values), "glued": "".join(values)}
        fields["date"] = _date(given) if "{date}" in text else ""
        return text.format(first, given.at(1) or ("" if "{0}" in text else first), given.at(2), **fields).strip()

    return render


def _unit(code: str) -> str:
    units = _table("units")
    if code[:2] in ("e3", "e6", "e9"):
        return f"{units[code[:2]]} {_unit(code[2:])}"
    return units.get(code, code)


def _measure(given: Arguments) -> str:
    """{{convert|5|to|10|km|mi}} -> "5 to 10 km": as it was measured, without the conversion."""
    text, *values = given.values or ("",)
    ranges = _table("ranges")
    while len(values) > 1 and values[0].lower() in ranges:
        text += ranges[values[0].lower()] + values[1]
        del values[:2]
    text += "".join(f" {_unit(value)}" for value in values[:1])
    if len(values) > 2 and _NUMBER.fullmatch(values[1]):
        text += f" {values[1]} {_unit(values[2])}"  # 5 ft 10 in
    return text.strip()


def _value(given: Arguments) -> str:
    error, power = given.at(1), given.get("e")
    text = given.at(0) + (f" ± {error}" if error else "") + (f" × 10<sup>{power}</sup>" if power else "")
    return " ".join(filter(None, (text, given.get("u", "ul", "upl"))))


def _fraction(given: Arguments) -> str:
    parts = given.all()
    whole = f"{parts.pop(0)} " if len(parts) > 2 else ""
    return whole + "/".join(parts if len(parts) > 1 else ["1", *parts])


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


def _date(given: Arguments) -> str:
    """A date with its month in the wiki's language, else in English; the parts as they are where they are no date."""
    numbers = _numbers_of_date(given.all(), given.language)
    if numbers is None:
        return " ".join(given.all())
    year, month, day = numbers
    name = (month_name(given.language, month) or MONTHS[month - 1]) if month else ""
    return " ".join(filter(None, (str(day or ""), name, str(year))))


def _list(mark: str) -> Render:
    """The arguments as a list in wikitext; a single one may be a list already."""

    def render(given: Arguments) -> str:
        entries = given.all()
        if len(entries) == 1 and (not mark or entries[0][:1] in ("*", "#")):
            return f"\n{entries[0]}\n" if entries[0][:1] in ("*", "#") else entries[0]
        return "\n" + "\n".join(f"{mark or '*'} {' '.join(entry.split())}" for entry in entries) + "\n"

    return render


_FUNCTIONS: dict[str, Render] = {
    "measure": _measure, "value": _value, "fraction": _fraction, "date": _date,
    "bullets": _list("*"), "numbers": _list("#"), "line_list": _list(""),
}  # fmt: skip


# --- infoboxes: a title, then rows of label and value --------------------------------------------


# Infoboxes, by their names or by what these begin with.
_BOXES = ("taxobox", "speciesbox", "automatic taxobox", "subspeciesbox", "chembox", "drugbox", "geobox", "starbox")
_STARTS = ("infobox", "ficha de", "карточка")
_NAMES = ("name", "title", "common name", "person name", "show name", "official_name", "fullname", "settlement_name")
# Parameters of layout, not of content.
_LAYOUT = re.compile(
    r"(?!.*caption\d*$)(?:image|img|logo|map|pushpin|signature|coat.of.arms|mapframe|image_|video).*"
    r"|(?:flag|seal|shield|crest|emblem|photo|cover|icon|picture)(?:[_ ].*)?\d*"
    r"|.*[_ ]footnotes?|(?:.*[_ ])?(?:alt|upright|refs?|lang|px)\d*"
    r"|(?:body|box|header|above|title|label|data|caption|name|sub|below)[_ ]?(?:style|class)\d*"
    r"|child|embed|embedded|nocat|sortkey|decat|display|border|upright|imagesize|abovecolou?r|unit_pref|wide|module_size"
)
_SETTING = re.compile(r"yes|no|y|n|on|off|auto|none|true|false|#[0-9a-f]{3,8}|\d+ ?px|(?:x?\d+)+px", re.IGNORECASE)
_KEY = re.compile(r"[^\[\]{}|<>\n]{1,120}")
_NUMBERED = re.compile(r"(?<=[a-z])(\d{1,3})$")
_INNER = ("module", "embed", "misc")


def is_content(key: str, value: str) -> bool:
    """Whether an argument says something, and is neither empty nor a setting of the layout."""
    return bool(value and _KEY.fullmatch(key)) and not (_LAYOUT.fullmatch(key) or _SETTING.fullmatch(value))


def infobox(given: Mapping[str, str]) -> str:
    """The box as a table in wikitext: its name, then a row for each argument of content."""
    named = {key: value for key, value in given.items() if value}
    top = next((key for key in _NAMES if key in named), "")
    lines = ["|-", "! colspan=2 |", named[top]] if top else []
    for key, value in named.items():
        if key == top or not is_content(key, value):
            continue
        if key.startswith(_INNER):  # a box within the box: its rows become rows of this one
            lines += ["|-", "| colspan=2 |", value]
        else:
            label = " ".join(_NUMBERED.sub(r" \1", key.replace("_", " ")).split())
            lines += ["|-", "!", label[:1].upper() + label[1:], "|", value]
    return "\n".join(['{|class="infobox"', *lines, "|}"]) if lines else ""
