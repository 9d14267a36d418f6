"""Number words become digits: "one hundred and five" 105, "twenty-first" 21st, "nineteen eighty-seven" 1987.

Million, billion and trillion stay words ("ten million" becomes "10 million"): they say how far a number is rounded.
"""

from __future__ import annotations

import re
import unicodedata

from iterative_rag.builtin.language.words import NUMBER_WORDS, ORDINAL_WORDS

# "Once" and "twice" say how often; as words of a sentence ("once a church") they are hardly ever numbers.
_CARDINALS = {word: value for word, value in NUMBER_WORDS.items() if word not in ("once", "thrice")}
_MULTIPLIERS = {"dozen": 12, "hundred": 100, "thousand": 1000}
_ORDINAL_MULTIPLIERS = {"hundredth": 100, "thousandth": 1000}
_WORD = "|".join(
    sorted((*_CARDINALS, *_MULTIPLIERS, *ORDINAL_WORDS, *_ORDINAL_MULTIPLIERS), key=lambda word: -len(word))
)
_RUN = re.compile(rf"(?<![\w.'-])(?:{_WORD})(?:(?:\s*-\s*|\s+and\s+|\s+)(?:{_WORD}))*(?![\w'])", re.IGNORECASE)
_STEP = re.compile(rf"({_WORD})(\s*-\s*|\s+and\s+|\s+)?", re.IGNORECASE)
_A_SCALE = re.compile(
    r"\b(?P<half>half\s+)?an?\s+(?P<scale>hundred|thousand|dozen|million|billion|trillion)\b", re.IGNORECASE
)
# A second is also a unit: after a number, a "per" or an "a" it is no ordinal.
_UNIT_SECOND = re.compile(r"(?:\d|\bper|\ba|\beach|\bevery)[\s-]*$", re.IGNORECASE)
_PARTS = {
    **dict.fromkeys(("half", "halves"), 2),
    **{f"{name}{end}": 4 for name in ("quarter", "fourth") for end in ("", "s")},
    **{
        f"{name}{end}": value
        for name, value in ORDINAL_WORDS.items()
        if value in (3, 5, 6, 7, 8, 9, 10)
        for end in ("", "s")
    },
}
_FRACTION = re.compile(rf"\b(?P<many>an?|{'|'.join(_CARDINALS)})[\s-]+(?P<part>{'|'.join(_PARTS)})\b", re.IGNORECASE)
_MIXED = re.compile(r"(?P<whole>(?<![\d./])\d+\s?)?(?P<part>[¼-¾⅐-⅞])")


def with_digits(text: str) -> str:
    """`text` with every number word as digits, fractions as decimals; all else as it stands."""
    text = _MIXED.sub(_mixed, text)
    text = _FRACTION.sub(_fraction, text)
    return _RUN.sub(_run, _A_SCALE.sub(_a_scale, text))


def _a_scale(match: re.Match[str]) -> str:
    """ "a hundred" goes on as a number word ("a hundred and five"), "a million" stays a rounded one."""
    one = "one" if match["scale"].lower() in _MULTIPLIERS else "1"
    return f"{'0.5' if match['half'] else one} {match['scale']}"


def _mixed(match: re.Match[str]) -> str:
    value = float(match["whole"] or 0) + unicodedata.numeric(match["part"])
    return f"{value:.6g}"


def _fraction(match: re.Match[str]) -> str:
    many = match["many"].lower()
    count, part = (1 if many in ("a", "an") else _CARDINALS[many]), _PARTS[match["part"].lower()]
    # "two third" and "one fourths" are no fractions; "five tenth" is a slip, "ten fifths" a count.
    if count >= part or (count > 1) != match["part"].lower().endswith("s"):
        return match[0]
    return f"{count / part:.6g}"


def _run(match: re.Match[str]) -> str:
    """The numbers of a run of number words, each as digits: "two one" are two of them."""
    tokens = [(step[1].lower(), step[2] or "") for step in _STEP.finditer(match[0])]
    before = match.string[: match.start()]
    written: list[str] = []
    start = 0
    while start < len(tokens):
        end, value, ordinal = _number(tokens, start)
        words = [word for word, _ in tokens[start:end]]
        alone = words == ["second"] and (_UNIT_SECOND.search(before + "".join(written)) is not None)
        plain = words[0] if alone else _written(value, ordinal)
        written.append(plain + (tokens[end - 1][1] if end < len(tokens) else ""))
        start = end
    return "".join(written)


def _written(value: int, ordinal: bool) -> str:
    return f"{value}th" if ordinal else str(value)


def _number(tokens: list[tuple[str, str]], start: int) -> tuple[int, int, bool]:
    """The longest number that begins at `start`: (the place after it, its value, whether it is an ordinal)."""
    whole, part, last = 0, 0, 0  # what is multiplied already, what is still being said, its latest word
    place = start
    while place < len(tokens):
        word = tokens[place][0]
        ordinal = word in ORDINAL_WORDS or word in _ORDINAL_MULTIPLIERS
        joined = tokens[place - 1][1].strip() if place > start else ""
        if word in _MULTIPLIERS or word in _ORDINAL_MULTIPLIERS:
            factor = _MULTIPLIERS.get(word) or _ORDINAL_MULTIPLIERS[word]
            # "hundred two hundred" are two numbers.
            if joined == "and" or (place > start and (not part or factor <= last)):
                break
            part, last = (part or 1) * factor, factor
            if factor == 1000:
                whole, part = whole + part, 0
        else:
            value = _CARDINALS.get(word, ORDINAL_WORDS.get(word, 0))
            year = not ordinal and joined != "and" and part == last and 13 <= last <= 20 and 10 <= value <= 99
            if place > start and not (year or _follows(last, value, joined)):
                break
            part, last = (part * 100 if year else part) + value, value
        place += 1
        if ordinal:
            return place, whole + part, True
    return place, whole + part, False


def _follows(last: int, value: int, joined: str) -> bool:
    """Whether `value` goes on with a number whose latest word was `last`: after tens a unit, after hundreds all."""
    if last in (100, 1000):
        return 0 < value < 100
    return joined != "and" and 20 <= last < 100 and last % 10 == 0 and 0 < value < 10


__all__ = ["with_digits"]
