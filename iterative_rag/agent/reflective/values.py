"""Numbers and dates in a text of any of the known languages, compared by what they say and not by how they look."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.agent.reflective.languages import MONTHS, folded, is_function_word, number_of
from iterative_rag.patterns import lazy_pattern

# How far a number may lie from another where one of them is said to be rounded, or was converted.
ROUNDED, CONVERTED = 0.06, 0.01

# One line a dimension: names of units, and what one of them is in the line's first unit.
_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _line in {
    "length": "m=1 meter=1 meters=1 metre=1 metres=1 metern=1 metro=1 metros=1 metri=1 km=1000 kms=1000 kilometer=1000 "
    "kilometers=1000 kilometern=1000 kilometre=1000 kilometres=1000 kilometro=1000 kilometros=1000 chilometro=1000 "
    "chilometri=1000 quilometros=1000 cm=0.01 centimeter=0.01 centimeters=0.01 centimetre=0.01 centimetres=0.01 "
    "centimetros=0.01 zentimeter=0.01 mm=0.001 ft=0.3048 foot=0.3048 feet=0.3048 fuss=0.3048 pieds=0.3048 pied=0.3048 "
    "pies=0.3048 piedi=0.3048 inch=0.0254 inches=0.0254 yard=0.9144 yards=0.9144 mi=1609.344 mile=1609.344 "
    "miles=1609.344 meile=1609.344 meilen=1609.344 milles=1609.344 millas=1609.344 miglia=1609.344 milhas=1609.344",
    "time": "s=1 sec=1 second=1 seconds=1 sekunde=1 sekunden=1 seconde=1 secondes=1 segundos=1 secondi=1 min=60 "
    "minute=60 minutes=60 minuten=60 minutos=60 minuti=60 h=3600 hour=3600 hours=3600 stunde=3600 stunden=3600 "
    "heure=3600 heures=3600 hora=3600 horas=3600 ora=3600 ore=3600 day=86400 days=86400 tag=86400 tage=86400 "
    "tagen=86400 jour=86400 jours=86400 dia=86400 dias=86400 giorno=86400 giorni=86400 dagen=86400",
    "span": "week=7 weeks=7 woche=7 wochen=7 semaine=7 semaines=7 semana=7 semanas=7 settimane=7 month=30.44 "
    "months=30.44 monat=30.44 monate=30.44 monaten=30.44 mois=30.44 mes=30.44 meses=30.44 mese=30.44 mesi=30.44 "
    "year=365.25 years=365.25 jahr=365.25 jahre=365.25 jahren=365.25 an=365.25 ans=365.25 annee=365.25 annees=365.25 "
    "ano=365.25 anos=365.25 anno=365.25 anni=365.25 jaar=365.25",
    "mass": "g=1 gram=1 grams=1 gramm=1 kg=1000 kilogram=1000 kilograms=1000 kilogramm=1000 kilos=1000 t=1000000 "
    "ton=1000000 tons=1000000 tonne=1000000 tonnes=1000000 tonnen=1000000 lb=453.6 lbs=453.6 pound=453.6 pounds=453.6",
    "share": "%=1 percent=1 prozent=1 pourcent=1 porcentaje=1",
    "area": "km2=1 m2=0.000001 mi2=2.59 ha=0.01 hectare=0.01 hectares=0.01 hektar=0.01 acre=0.004047 acres=0.004047 "
    "quadratkilometer=1 quadratkilometern=1 quadratmeter=0.000001 quadratmetern=0.000001 quadratmeilen=2.59",
}.items():
    for _name, _, _size in (_pair.partition("=") for _pair in _line.split()):
        _UNITS[_name] = (_dimension, float(_size))
_SCALES = {
    **dict.fromkeys(("thousand", "tausend", "mille", "mil", "mila", "duizend"), 1e3),
    **dict.fromkeys(
        ("million", "millions", "millionen", "mio", "millon", "millones", "milione", "milioni", "miljoen"), 1e6
    ),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "mrd", "milliard", "milliards", "miljard"), 1e9),
}
_ABOUT = lazy_pattern(
    r"(?:about|around|roughly|nearly|almost|approximately|some|over|circa|ca\.?|c\.|etwa|rund|ungefähr|knapp|über|fast|"
    r"environ|près de|presque|unos|unas|cerca de|casi|aproximadamente|quasi|ongeveer|~|≈)\s*$",
    re.IGNORECASE,
)
_MONTH = "|".join(sorted((re.escape(name) for name in MONTHS), key=len, reverse=True))
_OF = r"(?:\s+(?:of|de|del|di|van|d['’]))?"
_DATE = lazy_pattern(
    rf"(?<!\w)(?:(?P<d1>\d{{1,2}})(?:\.|º|°|er|st|nd|rd|th)?{_OF}\s+(?P<m1>{_MONTH})(?!\w)\.?(?:(?:,|{_OF})\s+(?P<y1>\d{{3,4}})(?!\d))?"
    rf"|(?P<m2>{_MONTH})\.?\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y2>\d{{3,4}})(?!\d))?"
    rf"|(?P<m3>{_MONTH})\.?,?{_OF}\s+(?P<y3>\d{{3,4}})(?!\d)"
    r"|(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})(?!\d)"
    r"|(?P<d5>\d{1,2})(?P<mark>[./])(?P<m5>\d{1,2})(?P=mark)(?P<y5>\d{4})(?!\d))"
)
_NUMBER = lazy_pattern(
    r"(?<![^\W_])(?P<digits>\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?P<decade>'?s(?!\w))?(?:st|nd|rd|th|er|ème|e|º|ª)?(?![\d])(?:[\s-](?P<scale>[^\W\d_]+)\.?)?"
)
_NEXT = lazy_pattern(r"\s*(%|[^\W\d_]+[²2]?(?!\w))")
_SQUARE = lazy_pattern(
    r"\s*(?:(?:square|sq\.?|vierkante)\s+(?P<one>[^\W\d_]+)|(?P<other>[^\W\d_]+)\s+(?:carres?|cuadrados?|quadrati|quadrados?))(?!\w)"
)
_WORD = lazy_pattern(r"[^\W\d_]+(?:-[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Value:
    """A number or a date at `start` to `end`. `numbers` are its readings ("12.400" has two), none for a date with a day
    or month; `date` is (year, month, day), 0 where not said. `unit` is a known unit's name, `counted` the word after a
    number without one ("seven seasons")."""

    start: int
    end: int
    numbers: frozenset[float] = frozenset()
    date: tuple[int, int, int] = (0, 0, 0)
    unit: str = ""
    counted: str = ""
    about: bool = False
    decade: bool = False

    @property
    def is_date(self) -> bool:
        """Whether a month or day is said: a bare year is a number, too."""
        return self.date[1] > 0

    @property
    def year(self) -> int:
        return self.date[0]


def stands_in(claimed: Value, given: Value) -> bool:
    """Whether `given` says what `claimed` says, if less exactly: "1874" stands in "3 March 1874"."""
    if claimed.is_date:
        return all(part in (0, other) for part, other in zip(claimed.date, given.date, strict=True))
    if claimed.decade:
        return given.year - given.year % 10 == claimed.year if given.year else False
    if given.is_date:
        return not claimed.unit and claimed.year != 0 and claimed.year == given.year
    if claimed.unit and given.counted:
        return False
    if claimed.unit and given.unit and _UNITS[claimed.unit] != _UNITS[given.unit]:
        factor = _factor(given.unit, claimed.unit)
        return factor is not None and _near(claimed, {number * factor for number in given.numbers}, CONVERTED)
    return bool(claimed.numbers & given.numbers) or (
        (claimed.about or given.about) and _near(claimed, given.numbers, ROUNDED)
    )


def excludes(one: Value, other: Value) -> bool:
    """Whether two values of the same need cannot both be true."""
    if (one.is_date and other.is_date) or (one.year and other.year):
        return any(0 not in pair and pair[0] != pair[1] for pair in zip(one.date, other.date, strict=True))
    if one.unit and other.unit and _UNITS[one.unit][0] != _UNITS[other.unit][0]:
        return False
    return not (stands_in(one, other) or stands_in(other, one) or _rounded(one, other) or _rounded(other, one))


def _rounded(one: Value, other: Value) -> bool:
    """Whether one is the other, rounded to fewer digits: 1.4 million and 1,412,300."""
    factor = _factor(other.unit, one.unit) if one.unit and other.unit else 1.0
    for rough in one.numbers:
        zeros = len(str(int(rough))) - len(str(int(rough)).rstrip("0")) if rough >= 1000 and rough == int(rough) else 0
        step = 10.0**zeros
        if zeros >= 2 and any(abs(exact * (factor or 0) - rough) <= step / 2 for exact in other.numbers):
            return True
    return False


def _near(claimed: Value, numbers: frozenset[float] | set[float], share: float) -> bool:
    return any(abs(one - other) <= share * abs(other) for one in claimed.numbers for other in numbers)


def _factor(unit: str, into: str) -> float | None:
    (dimension, size), (wanted, other) = _UNITS[unit], _UNITS[into]
    return size / other if dimension == wanted else None


@lru_cache(maxsize=4096)
def values(text: str, code: str) -> tuple[Value, ...]:
    """The numbers and dates of a text in the language `code`, left to right."""
    plain = _same_length(text)
    found = [value for match in _DATE.finditer(plain) if (value := _dated(match))]
    taken = [(value.start, value.end) for value in found]
    for match in _NUMBER.finditer(plain):
        if not any(start < match.end("digits") and match.start() < end for start, end in taken):
            found.append(_counted(match, plain, code))
    for match in _WORD.finditer(plain):
        number = None if text[match.start()].isupper() and match.start() else number_of(match[0], code)
        if number is not None and not any(start <= match.start() < end for start, end in taken):
            end, unit, counted = _unit(plain, match.end(), code)
            found.append(Value(match.start(), end, frozenset({float(number)}), unit=unit, counted=counted))
    return tuple(sorted(found, key=lambda value: value.start))


def _same_length(text: str) -> str:
    """The text with its letters folded one by one, so that places stay."""
    return "".join(low if len(low := folded(letter)) == 1 else letter.lower()[:1] for letter in text)


def _dated(match: re.Match[str]) -> Value | None:
    said = {name[0]: part for name, part in match.groupdict().items() if part and name != "mark"}
    month = MONTHS.get(said["m"], 0) or (int(said["m"]) if said["m"].isdigit() else 0)
    day, year = int(said.get("d", 0)), int(said.get("y", 0))
    if month > 12 >= day > 0:
        month, day = day, month
    if not 1 <= month <= 12 or day > 31:
        return None
    return Value(match.start(), match.end(), date=(year, month, day))


def _counted(match: re.Match[str], text: str, code: str) -> Value:
    readings = _readings(match["digits"])
    scale = _SCALES.get(match["scale"] or "", 0.0)
    end = match.end("scale") if scale else match.end("decade") if match["decade"] else match.end("digits")
    numbers = frozenset(round(number * (scale or 1.0), 6) for number in readings)
    end, unit, counted = _unit(text, end, code)
    year = int(match["digits"]) if re.fullmatch(r"1\d{3}|20\d{2}", match["digits"]) and not (scale or unit) else 0
    about = _ABOUT.search(text[max(0, match.start() - 16) : match.start()]) is not None
    return Value(
        match.start(),
        end,
        numbers,
        (year, 0, 0),
        unit,
        "" if year else counted,
        about,
        decade=bool(match["decade"] and year),
    )


def _readings(digits: str) -> set[float]:
    """ "12,400" and "12.400" may be a grouped number or a decimal one."""
    plain = re.sub(r"['’ \u00a0\u2009\u202f]", "", digits)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return {float(plain)}
    grouped = re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?", plain)
    found: set[float] = set()
    if grouped:
        whole, _, rest = plain.partition(marks[-1]) if len(set(marks)) == 2 else (plain, "", "")
        whole = plain[: len(plain) - len(rest) - 1] if rest else plain
        found.add(float(re.sub(r"[.,]", "", whole) + (f".{rest}" if rest else "")))
    if len(marks) == 1:
        found.add(float(plain.replace(",", ".")))
    return found or {float(re.sub(r"[.,]", "", plain))}


def _unit(text: str, end: int, code: str) -> tuple[int, str, str]:
    """(end, unit, word that is counted): "seven long years" has a unit, "seven seasons in years" has none."""
    if square := _SQUARE.match(text, end):
        base = _UNITS.get(square["one"] or square["other"])
        if base and base[0] == "length":
            return square.end(), {1000.0: "km2", 1609.344: "mi2", 1.0: "m2"}.get(base[1], ""), ""
    place, counted = end, ""
    for _ in range(2):
        match = _NEXT.match(text, place)
        word = match[1].replace("²", "2") if match else ""
        if match is None or (is_function_word(word, code) and word not in _UNITS):
            break
        if word in _UNITS:
            return match.end(), word, ""
        counted, place = counted or word, match.end()
    return end, "", counted
