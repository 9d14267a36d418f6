"""Templates rendered by their meaning: measures, dates, names in other scripts, lists, infoboxes. Others are dropped.

A template's source is another page, often a program, and not at hand; so the meaning of the common ones is written down
here. They render to wikitext.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from iterative_rag.sources.dumps.arguments import Arguments, parse_arguments
from iterative_rag.sources.dumps.infobox import infobox, is_infobox
from iterative_rag.sources.dumps.inline import LINK, PIECE, PIPE
from iterative_rag.text.dates import MONTHS

Render = Callable[[Arguments], str]
_NAME = re.compile(rf"[^\[\]{{}}<>\n{PIECE}{LINK}]{{0,255}}")


def expand(source: str, title: str) -> str:
    """The wikitext of a template, parser function or variable of the page `title`; "" for one that is not known.

    `source` is what stands between the braces.
    """
    function = _function(source, title)
    if function is not None:
        return function
    name, *parts = source.split("|")
    if not _NAME.fullmatch(name.strip()):
        return source  # stray braces around text
    name = " ".join(name.replace("_", " ").split()).lower().removeprefix("template:")
    if name in _SIGNS:
        return _SIGNS[name]
    arguments = parse_arguments(parts)
    if is_infobox(name):
        return infobox(arguments)
    if name.startswith(("lang-", "langx-")):
        return arguments.at(0)
    meaning = _TEMPLATES.get(name, "")
    return meaning.format(arguments.at(0), arguments.at(1)) if isinstance(meaning, str) else meaning(arguments)


def _function(source: str, title: str) -> str | None:
    """None where the braces hold no parser function and no variable."""
    name, colon, rest = source.partition(":")
    first, *parts = rest.split("|")
    first = first.strip()
    match name.strip().lower():
        case "pagename" | "fullpagename" | "basepagename" | "subpagename" if not rest:
            return title
        case "lc" if colon:
            return first.lower()
        case "uc" if colon:
            return first.upper()
        case "formatnum" | "ucfirst" | "lcfirst" | "nowiki" | "plural" | "padleft" | "padright" | "#iferror" if colon:
            return first
        case "#if":
            return parts[0].strip() if first and parts else "".join(parts[1:2]).strip()
        case other:
            return "" if other.startswith("#") else None


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
    """{{convert|5|to|10|km|mi}} -> "5 to 10 km": as it was measured, without the conversion."""
    values = list(given.values)
    text = values[0] if values else ""
    at = 1
    while at + 1 < len(values) and values[at].lower() in _RANGES:
        text += _RANGES[values[at].lower()] + values[at + 1]
        at += 2
    if at < len(values):
        text += f" {_unit(values[at])}"
    if at + 2 < len(values) and _IS_NUMBER.fullmatch(values[at + 1]):
        text += f" {values[at + 1]} {_unit(values[at + 2])}"  # 5 ft 10 in
    return text.strip()


def _value(given: Arguments) -> str:
    text = given.at(0)
    if error := given.at(1):
        text += f" ± {error}"
    if power := given.get("e"):
        text += f" × 10<sup>{power}</sup>"
    return " ".join(filter(None, (text, given.get("u", "ul", "upl"))))


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
        elif _IS_NUMBER.fullmatch(part) and count < 3:
            text += part + "°′″"[count]
            count += 1
    if not re.search("[NSEW]", text):
        text = ", ".join(f"{part}°" for part in given.values[:2] if _IS_NUMBER.fullmatch(part))
    return text.strip()


# --- dates and lives -------------------------------------------------------------------------

_IS_YEAR = re.compile(r"\d{1,4}")


def _written_date(parts: Sequence[str]) -> str:
    """Year, month and day as numbers -> "2 January 1900"; the first part as it is where it is not a year."""
    year, month, day = [*(part.lstrip("0") for part in parts[:3]), "", "", ""][:3]
    if not _IS_YEAR.fullmatch(year):
        return parts[0] if parts else ""
    if month.isdigit():
        month = MONTHS[int(month) - 1] if len(month) < 3 and 1 <= int(month) <= 12 else ""
    return " ".join(filter(None, (day if month and day.isdigit() else "", month, year)))


def _date(given: Arguments) -> str:
    return _written_date(given.all())


def _death_and_age(given: Arguments) -> str:
    parts = given.all()
    death, birth = parts[:3], parts[3:6]
    text = _written_date(death)
    if len(birth) == 3 and all(part.isascii() and part.isdigit() and len(part) < 5 for part in death + birth):
        (died, *died_on), (born, *born_on) = ([int(part) for part in one] for one in (death, birth))
        text += f" (aged {died - born - (died_on < born_on)})"
    return text


def _marriage(given: Arguments) -> str:
    """{{marriage|Ann|1950|1960|end=div}} -> "Ann (m. 1950; div. 1960)"."""
    begin, end, reason = given.at(1), given.at(2), given.get("end", "reason").rstrip(".")
    reason = {"divorced": "div", "died": "died", "death": "died", "widowed": "died", "separated": "sep"}.get(
        reason, reason
    )
    ended = f"{reason}{'' if reason == 'died' else '.'} {end}".strip() if reason else f"until {end}"
    when = "; ".join(filter(None, (f"m. {begin}" if begin else "", ended if end or reason else "")))
    return f"{given.at(0)} ({when})" if when else given.at(0)


def _as_of(given: Arguments) -> str:
    return given.get("alt") or f"{'as of' if given.get('lc') else 'As of'} {_date(given)}"


# --- words and lists -------------------------------------------------------------------------


def _last(given: Arguments) -> str:
    return given.all()[-1] if given.all() else ""


def _or(word: str) -> Render:
    return lambda given: given.at(0) or word


def _foreign(given: Arguments) -> str:
    """{{nihongo|Tokyo Tower|東京タワー|Tōkyō tawā}} -> "Tokyo Tower (東京タワー, Tōkyō tawā)"."""
    name, *others = [*given.values[:3], ""] if not given.at(0) else given.all()[:3]
    more = ", ".join(filter(None, others))
    return f"{name} ({more})" if name and more else name or more


def _list(mark: str) -> Render:
    """Entries given one by one, or as a list in wikitext."""

    def render(given: Arguments) -> str:
        entries = given.all()
        if len(entries) == 1 and entries[0][:1] in ("*", "#"):
            return f"\n{entries[0]}\n"
        return "\n" + "\n".join(f"{mark} {' '.join(entry.split())}" for entry in entries) + "\n" if entries else ""

    return render


def _list_text(given: Arguments) -> str:
    text = given.at(0)
    return f"\n{text}\n" if "\n" in text or text[:1] in ("*", "#") else text


def _quote(given: Arguments) -> str:
    text, author = given.get("text", "quote") or given.at(0), given.get("author", "sign", "by") or given.at(1)
    return f"<blockquote>{text}{f' — {author}' if author else ''}</blockquote>" if text else ""


# --- which template means what ----------------------------------------------------------------

# Templates for a sign: first those that stand for wikitext, then those for text.
_MARKUP = {"!": PIPE, "(!": f"{{{PIPE}", "!)": f"{PIPE}}}", "!-": f"{PIPE}-", "!!": PIPE + PIPE, "=": "="}
MARKUP = frozenset(_MARKUP.values())
_SIGNS = _MARKUP | {
    "br": "<br>", "break": "<br>", "ndash": "–", "endash": "–", "en dash": "–", "snd": " – ", "spaced ndash": " – ",
    "spnd": " – ", "spaced en dash": " – ", "mdash": "—", "emdash": "—", "em dash": "—", "·": " · ", "•": " • ",
    "dot": " · ", "middot": " · ", "bullet": " • ", "'": "'", "\"'": "\"'", "'\"": "'\"", "nbsp": " ", "space": " ",
    "degree": "°", "°": "°", "dagger": "†", "double-dagger": "‡", "minus": "−", "times": "×", "\\": " / ",
    "male": "male", "female": "female", "check": "Yes", "tick": "Yes", "cross": "No",
}  # fmt: skip
# Table cells with a fixed text, unless an argument replaces it.
_CELLS = {
    "yes": "Yes", "no": "No", "yes2": "Yes", "no2": "No", "n/a": "N/A", "na": "N/A", "won": "Won", "nom": "Nominated",
    "pending": "Pending", "dunno": "?", "tba": "TBA", "tbd": "TBD", "active": "Active", "maybe": "Maybe",
    "partial": "Partial", "win": "Win", "draw": "Draw", "loss": "Loss", "free": "Free", "unknown": "Unknown",
    "gold1": "1", "silver2": "2", "bronze3": "3", "none": "None", "eliminated": "Eliminated", "cancelled": "Cancelled",
}  # fmt: skip
# What each is rendered to: a format of its first two values, or a function.
_MEANINGS: tuple[tuple[str, str | Render], ...] = (
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
    ("circa | c. | ca | approx", "c. {0}"),
    ("floruit | fl.", "fl. {0}"),
    ("b.", "b. {0}"),
    ("reign | r.", lambda given: "r. " + "–".join(given.all()[:2])),
    ("us$ | usd", "US${0}"),
    ("a$ | au$ | aud", "A${0}"),
    ("£ | gbp | pound sterling", "£{0}"),
    ("€ | euro | eur", "€{0}"),
    ("¥ | jpy | yen", "¥{0}"),
    ("₹ | inr | indian rupee", "₹{0}"),
    ("flag | flagcountry | flagu | flag country | flag+link | noflag | country | fb", "{0}"),
    ("nowrap | nobr | nobreak | no wrap | wrap | allow wrap | small | smaller | big | large | larger", "{0}"),
    (
        "center | centre | nobold | noitalic | normal | em | strong | bold | italic | underline | u | strike | s",
        "{0}",
    ),
    ("sc | smallcaps | smallcaps all | mono | code | tt | kbd | abbr | tooltip | text | gloss | translation", "{0}"),
    ("mvar | math | var | chem2 | nts | ntsh | formatnum | not a typo | proper name | sic | as written", "{0}"),
    ("ill | interlanguage link | linktext | birth year and age | death year and age | birth year", "{0}"),
    ("lang | native name | native phrase | rtl-lang | color | colour | fontcolor | bg | sort", "{1}"),
    ("transl | transliteration | font color | colored text", _last),
    ("nihongo | nihongo2 | korean", _foreign),
    ("sortname | ship", lambda given: " ".join(given.all())),
    ("hms", "HMS {0}"),
    ("uss", "USS {0}"),
    ("sup", "<sup>{0}</sup>"),
    ("sub", "<sub>{0}</sub>"),
    ("chem", lambda given: "".join(given.all())),
    ("url", lambda given: given.at(1) or given.at(0).partition("//")[2] or given.at(0)),
    (
        "plainlist | plain list | flatlist | flat list | indented plainlist | nowraplist | div col content",
        _list_text,
    ),
    ("unbulleted list | ubl | ublist | ubt | unbulleted | vunblist | hlist | hlist-comma | flowlist", _list("*")),
    ("bulleted list | blist | cslist | comma separated entries | collapsible list | tree list | pagelist", _list("*")),
    ("ordered list | olist | numbered list", _list("#")),
    ("quote | blockquote | cquote | quotation | quote box | rquote | poem quote", _quote),
)
_TEMPLATES = {name.strip(): meaning for names, meaning in _MEANINGS for name in names.split("|")}
_TEMPLATES |= {name: _or(word) for name, word in _CELLS.items()}
