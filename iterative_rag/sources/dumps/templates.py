"""Templates by what they mean: measures, dates, names in other scripts, lists, infoboxes. All others are left out.

A template's own text is not at hand (it is another page, often a program), so the meaning of the common ones is
written down here. What they say is wikitext again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from iterative_rag.sources.dumps.arguments import Arguments, arguments
from iterative_rag.sources.dumps.infobox import infobox, is_infobox
from iterative_rag.sources.dumps.inline import PIPE


def expand_template(source: str) -> str:
    """What a template says, as wikitext; "" for one that is not known. `source` is what stands in the braces."""
    name, *parts = source.split("|")
    name = " ".join(name.replace("_", " ").split()).lower().removeprefix("template:")
    if name in _SIGNS:
        return _SIGNS[name]
    given = arguments(parts)
    if is_infobox(name):
        return infobox(given)
    if said := _TEMPLATES.get(name):
        return said(given)
    if name.startswith(("lang-", "langx-")):
        return given.at(0)
    return ""


def expand_function(source: str, title: str) -> str:
    """What a parser function or a variable says, as far as it can be told without a wiki."""
    name, _, rest = source.partition(":")
    name = name.strip().lower()
    first, *parts = rest.split("|")
    match name:
        case "pagename" | "fullpagename" | "basepagename" | "subpagename" if not rest:
            return title
        case "formatnum" | "lc" | "uc" | "ucfirst" | "lcfirst" | "nowiki" | "plural" | "padleft" | "padright":
            said = first.strip()
            return said.lower() if name == "lc" else said.upper() if name == "uc" else said
        case "#if":
            return parts[0].strip() if first.strip() and parts else "".join(parts[1:2]).strip()
        case "#iferror":
            return first.strip()
    return ""


# --- measures --------------------------------------------------------------------------------

_UNITS = {
    "km2": "km²", "sqkm": "km²", "m2": "m²", "sqm": "m²", "mi2": "sq mi", "sqmi": "sq mi", "ft2": "sq ft",
    "sqft": "sq ft", "cm2": "cm²", "m3": "m³", "km3": "km³", "ft3": "cu ft", "cuft": "cu ft", "c": "°C", "f": "°F",
    "k": "K", "km/h": "km/h", "kmh": "km/h", "kph": "km/h", "mph": "mph", "m3/s": "m³/s", "cuft/s": "cu ft/s",
    "/km2": "per km²", "/sqmi": "per sq mi", "long ton": "long tons", "lt": "long tons", "nmi": "nautical miles",
}  # fmt: skip
_RANGES = {
    "to": " to ", "-": "–", "–": "–", "to-": "–", "and": " and ", "&": " and ", "or": " or ", "x": " × ", "×": " × ",
    "by": " by ", "xx": " × ", "+": " + ", "±": " ± ", "+/-": " ± ", "to about": " to about ", ",": ", ",
}  # fmt: skip
_IS_NUMBER = re.compile(r"[-−+]?[\d,.]+(?:[/⁄]\d+|\+\d+/\d+|e[-+]?\d+)?", re.IGNORECASE)


def _unit(code: str) -> str:
    return _UNITS.get(code.lower() if code.lower() not in ("k", "f", "c") or code.isupper() else "", code)


def _convert(given: Arguments) -> str:
    """{{convert|5|to|10|km|mi}} -> "5 to 10 km": as it was measured, without what it comes to."""
    values = list(given.values)
    said = values[0] if values else ""
    place = 1
    while place + 1 < len(values) and values[place].lower() in _RANGES:
        said += _RANGES[values[place].lower()] + values[place + 1]
        place += 2
    if place < len(values):
        said += f" {_unit(values[place])}"
    if place + 2 < len(values) and _IS_NUMBER.fullmatch(values[place + 1]):
        said += f" {values[place + 1]} {_unit(values[place + 2])}"  # 5 ft 10 in
    return said.strip()


def _value(given: Arguments) -> str:
    said = given.at(0)
    if error := given.at(1):
        said += f" ± {error}"
    if power := given.get("e"):
        said += f" × 10<sup>{power}</sup>"
    return " ".join(filter(None, (said, given.get("u", "ul", "upl"))))


def _height(given: Arguments) -> str:
    units = ("m", "cm", "ft", "in")
    return " ".join(f"{given.get(unit)} {unit}" for unit in units if given.get(unit))


def _fraction(given: Arguments) -> str:
    parts = given.all()
    if len(parts) == 1:
        return f"1/{parts[0]}"
    return f"{parts[0]} {parts[1]}/{parts[2]}" if len(parts) > 2 else "/".join(parts)


def _coordinates(given: Arguments) -> str:
    """{{coord|51|30|26|N|0|7|39|W}} -> "51°30′26″N 0°7′39″W"; nothing where it is shown beside the title only."""
    if "inline" not in given.get("display") and given.get("display") not in ("", "i", "it", "ti"):
        return ""
    said, count = "", 0
    for part in given.values:
        if part.upper() in ("N", "S", "E", "W"):
            said += f"{part.upper()} "
            count = 0
        elif _IS_NUMBER.fullmatch(part) and count < 3:
            said += part + "°′″"[count]
            count += 1
    if not re.search("[NSEW]", said):
        said = ", ".join(f"{part}°" for part in given.values[:2] if _IS_NUMBER.fullmatch(part))
    return said.strip()


# --- dates and lives -------------------------------------------------------------------------

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_IS_YEAR = re.compile(r"\d{1,4}")


def _date_of(parts: Sequence[str]) -> str:
    """Year, month and day as numbers -> "2 January 1900"; what is no such number stays as it is."""
    year, month, day = ([part.lstrip("0") for part in parts[:3]] + ["", ""])[:3] if parts else ("", "", "")
    if not _IS_YEAR.fullmatch(year):
        return parts[0] if parts else ""
    if month.isdigit() and len(month) < 3 and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    elif month.isdigit():
        month = ""
    day = day if month and day.isdigit() else ""
    return " ".join(filter(None, (day, month, year)))


def _date(given: Arguments) -> str:
    return _date_of(given.all())


def _death_and_age(given: Arguments) -> str:
    parts = given.all()
    death, birth = parts[:3], parts[3:6]
    said = _date_of(death)
    if len(birth) == 3 and all(part.isascii() and part.isdigit() and len(part) < 5 for part in death + birth):
        dates = [[int(part) for part in one] for one in (death, birth)]
        age = dates[0][0] - dates[1][0] - (dates[0][1:] < dates[1][1:])
        said += f" (aged {age})"
    return said


def _marriage(given: Arguments) -> str:
    """{{marriage|Ann|1950|1960|end=div}} -> "Ann (m. 1950; div. 1960)"."""
    begin, over, why = given.at(1), given.at(2), given.get("end", "reason").rstrip(".")
    why = {"divorced": "div", "died": "died", "death": "died", "widowed": "died", "separated": "sep"}.get(why, why)
    ended = f"{why}{'' if why == 'died' else '.'} {over}".strip() if why else f"until {over}"
    when = "; ".join(filter(None, (f"m. {begin}" if begin else "", ended if over or why else "")))
    return f"{given.at(0)} ({when})" if when else given.at(0)


def _as_of(given: Arguments) -> str:
    word = "as of" if given.get("lc") else "As of"
    return given.get("alt") or f"{word} {_date_of(given.all())}"


# --- words and lists -------------------------------------------------------------------------


def _nth(place: int) -> Callable[[Arguments], str]:
    return lambda given: given.at(place)


def _last(given: Arguments) -> str:
    return given.all()[-1] if given.all() else ""


def _joined(given: Arguments) -> str:
    return " ".join(given.all())


def _before(word: str) -> Callable[[Arguments], str]:
    return lambda given: f"{word}{given.at(0)}"


def _range(word: str) -> Callable[[Arguments], str]:
    return lambda given: word + "–".join(given.all()[:2])


def _default(word: str) -> Callable[[Arguments], str]:
    return lambda given: given.at(0) or word


def _foreign(given: Arguments) -> str:
    """{{nihongo|Tokyo Tower|東京タワー|Tōkyō tawā}} -> "Tokyo Tower (東京タワー, Tōkyō tawā)"."""
    said, *others = [*given.values[:3], ""] if not given.at(0) else given.all()[:3]
    more = ", ".join(filter(None, others))
    return f"{said} ({more})" if said and more else said or more


def _list(mark: str) -> Callable[[Arguments], str]:
    """Entries given one by one, or as a list that is written out."""

    def said(given: Arguments) -> str:
        entries = given.all()
        if len(entries) == 1 and entries[0][:1] in ("*", "#"):
            return f"\n{entries[0]}\n"
        return "\n" + "\n".join(f"{mark} {' '.join(entry.split())}" for entry in entries) + "\n" if entries else ""

    return said


def _quote(given: Arguments) -> str:
    said, who = given.get("text", "quote") or given.at(0), given.get("author", "sign", "by") or given.at(1)
    return f"<blockquote>{said}{f' — {who}' if who else ''}</blockquote>" if said else ""


def _written_out(given: Arguments) -> str:
    said = given.at(0)
    return f"\n{said}\n" if "\n" in said or said[:1] in ("*", "#") else said


# --- which template means what ----------------------------------------------------------------

# Signs that templates stand for: those that are wikitext themselves, then those for reading.
_MARKUP = {"!": PIPE, "(!": f"{{{PIPE}", "!)": f"{PIPE}}}", "!-": f"{PIPE}-", "!!": PIPE + PIPE, "=": "="}
MARKUP = frozenset(_MARKUP.values())
_SIGNS = _MARKUP | {
    "br": "<br>", "break": "<br>", "ndash": "–", "endash": "–", "en dash": "–", "snd": " – ", "spaced ndash": " – ",
    "spnd": " – ", "spaced en dash": " – ", "mdash": "—", "emdash": "—", "em dash": "—", "·": " · ", "•": " • ",
    "dot": " · ", "middot": " · ", "bullet": " • ", "'": "'", "\"'": "\"'", "'\"": "'\"", "nbsp": " ", "space": " ",
    "degree": "°", "°": "°", "dagger": "†", "double-dagger": "‡", "minus": "−", "times": "×", "\\": " / ",
    "male": "male", "female": "female", "check": "Yes", "tick": "Yes", "cross": "No",
}  # fmt: skip
# Cells that say the same everywhere, unless they are given another word.
_CELLS = {
    "yes": "Yes", "no": "No", "yes2": "Yes", "no2": "No", "n/a": "N/A", "na": "N/A", "won": "Won", "nom": "Nominated",
    "pending": "Pending", "dunno": "?", "tba": "TBA", "tbd": "TBD", "active": "Active", "maybe": "Maybe",
    "partial": "Partial", "win": "Win", "draw": "Draw", "loss": "Loss", "free": "Free", "unknown": "Unknown",
    "gold1": "1", "silver2": "2", "bronze3": "3", "none": "None", "eliminated": "Eliminated", "cancelled": "Cancelled",
}  # fmt: skip
_MEANINGS: tuple[tuple[str, Callable[[Arguments], str]], ...] = (
    ("convert | cvt", _convert),
    ("val | value", _value),
    ("height", _height),
    ("frac | fraction | sfrac", _fraction),
    ("coord", _coordinates),
    ("birth date | birth date and age | bda | dob | birth-date | birth-date and age | birthdate", _date),
    ("birthdate and age | birth date text | death date | death-date | start date | start-date", _date),
    ("start date and age | end date | end-date | end date and age | film date | launch date", _date),
    ("release date | release date and age | opening date | date | dts", _date),
    ("death date and age | dda | death-date and age", _death_and_age),
    ("marriage | married", _marriage),
    ("as of", _as_of),
    ("circa | c. | ca | approx", _before("c. ")),
    ("floruit | fl.", _before("fl. ")),
    ("b.", _before("b. ")),
    ("reign | r.", _range("r. ")),
    ("us$ | usd", _before("US$")),
    ("a$ | au$ | aud", _before("A$")),
    ("£ | gbp | pound sterling", _before("£")),
    ("€ | euro | eur", _before("€")),
    ("¥ | jpy | yen", _before("¥")),
    ("₹ | inr | indian rupee", _before("₹")),
    ("flag | flagcountry | flagu | flag country | flag+link | noflag | country | fb", _nth(0)),
    ("nowrap | nobr | nobreak | no wrap | wrap | allow wrap | small | smaller | big | large | larger", _nth(0)),
    (
        "center | centre | nobold | noitalic | normal | em | strong | bold | italic | underline | u | strike | s",
        _nth(0),
    ),
    ("sc | smallcaps | smallcaps all | mono | code | tt | kbd | abbr | tooltip | text | gloss | translation", _nth(0)),
    ("mvar | math | var | chem2 | nts | ntsh | formatnum | not a typo | proper name | sic | as written", _nth(0)),
    ("ill | interlanguage link | linktext | birth year and age | death year and age | birth year", _nth(0)),
    ("lang | native name | native phrase | rtl-lang | color | colour | fontcolor | bg | sort", _nth(1)),
    ("transl | transliteration | font color | colored text", _last),
    ("nihongo | nihongo2 | korean", _foreign),
    ("sortname | ship", _joined),
    ("hms", _before("HMS ")),
    ("uss", _before("USS ")),
    ("sup", lambda given: f"<sup>{given.at(0)}</sup>"),
    ("sub", lambda given: f"<sub>{given.at(0)}</sub>"),
    ("chem", lambda given: "".join(given.all())),
    ("url", lambda given: given.at(1) or given.at(0).partition("//")[2] or given.at(0)),
    ("plainlist | plain list | flatlist | flat list | indented plainlist | nowraplist | div col content", _written_out),
    ("unbulleted list | ubl | ublist | ubt | unbulleted | vunblist | hlist | hlist-comma | flowlist", _list("*")),
    ("bulleted list | blist | cslist | comma separated entries | collapsible list | tree list | pagelist", _list("*")),
    ("ordered list | olist | numbered list", _list("#")),
    ("quote | blockquote | cquote | quotation | quote box | rquote | poem quote", _quote),
)
_TEMPLATES = {name.strip(): meaning for names, meaning in _MEANINGS for name in names.split("|")}
_TEMPLATES |= {name: _default(word) for name, word in _CELLS.items()}
