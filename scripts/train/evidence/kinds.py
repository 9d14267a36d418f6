"""The kind of thing that a question asks for and that an answer is, as far as their form tells."""

from __future__ import annotations

import re

PERSON, PLACE, DATE, NUMBER, NAME, PHRASE, POLAR = range(7)
NAMES = ("person", "place", "date", "number", "name", "phrase", "yes/no")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b(?:1\d{{3}}|20\d\d)s?\b|\b{_MONTH}\.? \d|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|century|\b(?:BC|AD)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d|day\b|night|morning|spring|summer|autumn|winter|age\b")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|dozen|zero|none|once|twice|single)\b",
    re.IGNORECASE,
)
_ASKS_DATE = re.compile(
    r"^when\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b|"
    r"^(?:in|on|since|by|until) (?:what|which) (?:year|date|day)",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|high|large|big|deep|wide|often|fast|heavy)\b|"
    r"\bwhat (?:percent\w*|number|is the population|was the population|is the length|is the height)\b",
    re.IGNORECASE,
)
_ASKS_PERSON = re.compile(
    r"^(?:who|whom|whose)\b|\b(?:what|which) (?:actor|actress|singer|writer|author|director|president|"
    r"player|king|queen|"
    r"emperor|pope|person|man|woman|scientist|philosopher|politician|composer|artist|general|prime minister|"
    r"architect)\b",
    re.IGNORECASE,
)
_ASKS_PLACE = re.compile(
    r"^where\b|\b(?:what|which) (?:city|country|town|state|river|place|island|continent|county|region|province|village|"
    r"mountain|lake|ocean|capital|district|location|area|borough|nation)\b",
    re.IGNORECASE,
)


def asked_kind(question: str) -> int | None:
    """The kind that a question asks for; None where its words do not tell."""
    question = question.strip()
    for kind, pattern in ((NUMBER, _ASKS_NUMBER), (DATE, _ASKS_DATE), (PERSON, _ASKS_PERSON), (PLACE, _ASKS_PLACE)):
        if pattern.search(question):
            return kind
    return None


def fits(kind: int, answer: str) -> bool:
    """Whether an answer can be of a kind, by its form: a date has a year or a month, a person no digits."""
    if kind == DATE:
        return bool(_DATE.search(answer) or _TIME.search(answer))
    if kind == NUMBER:
        return bool(_NUMBER.search(answer))
    if kind == PERSON:
        return not re.fullmatch(r"[\W\d]+", answer) and not _DATE.fullmatch(answer.strip())
    if kind == PLACE:
        return not re.fullmatch(r"[\W\d]+", answer)
    return True


def kind_of(question: str, answer: str) -> int:
    """The kind of a right answer, for the head that learns it."""
    asked = asked_kind(question)
    named = any(word[:1].isupper() for word in answer.split())
    if asked in (DATE, NUMBER):
        return asked if fits(asked, answer) else PHRASE
    if asked in (PERSON, PLACE):
        return asked if named else PHRASE
    if _DATE.search(answer) and len(answer.split()) < 5:
        return DATE
    if re.search(r"^[\W\d]+|\d", answer) and len(answer.split()) < 4 and not named:
        return NUMBER
    return NAME if named else PHRASE


def shape(value: str) -> str:
    """The outer form of a value, to find others that could be mistaken for it: a date, a number, a name, words."""
    if _DATE.search(value) and len(value.split()) < 5:
        return "date"
    if re.search(r"\d", value):
        return "number"
    return "name" if value[:1].isupper() else "words"


_CANDIDATES = {
    "date": re.compile(rf"(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}})?,? ?\b(?:1\d{{3}}|20\d\d)\b", re.IGNORECASE),
    "number": re.compile(r"\b\d[\d,.]*\d(?: (?:million|billion|percent|%|km|miles|feet|metres|years))?|\b\d+\b"),
    "name": re.compile(r"\b[A-Z][\w’'-]+(?: (?:of |the |de |von )?[A-Z][\w’'-]+)*"),
    "words": re.compile(r"\b[a-z]{4,}(?: [a-z]{4,}){0,2}"),
}


def look_alikes(value: str, text: str) -> list[str]:
    """Values of the same form in a text that share no word with the value."""
    own = {word.lower() for word in re.findall(r"\w+", value)}
    found = [match.group().strip(" ,") for match in _CANDIDATES[shape(value)].finditer(text)]
    return [one for one in dict.fromkeys(found) if one and not own & {word.lower() for word in re.findall(r"\w+", one)}]
