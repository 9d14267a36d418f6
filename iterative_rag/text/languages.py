"""Language data (function words, months, ways of writing values), and which language a text is in.

Text in any other language still works: its words of up to three letters count as function words, and its numbers and
months are read by the rules of all languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache, partial
from typing import Any

from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.patterns import LETTERS, table_beside


@dataclass(frozen=True, slots=True)
class Language:
    """One language; all words are folded. Function words include hedges ("perhaps"). Tuples hold regular expressions
    over folded text.

    `months` maps names and short names to 1 to 12, `scales` "million" to 1e6, `parts` "thirds" to 3, `words`
    "anderthalb" to 1.5, `decades` "nineties" to 90 and `ordinals` ranks that text2num does not read to their numbers.
    `decade_before` and `decade_after` surround the year of a decade. `afterthoughts` may stand between a number and
    what it counts without changing it, `no_names` before a number without making it part of a name, and `fillers`
    around a value without changing it.
    """

    code: str
    function_words: frozenset[str]
    light_words: frozenset[str]
    comparing_words: frozenset[str]
    negations: frozenset[str]
    question_words: frozenset[str]
    months: Mapping[str, int]
    scales: Mapping[str, float]
    parts: Mapping[str, int]
    words: Mapping[str, float]
    ordinals: Mapping[str, int]
    decades: Mapping[str, int]
    articles: frozenset[str]
    half: frozenset[str]
    and_a_half: tuple[str, ...]
    ordinal_endings: tuple[str, ...]
    decade_before: tuple[str, ...]
    decade_after: tuple[str, ...]
    century: tuple[str, ...]
    before_christ: tuple[str, ...]
    after_christ: tuple[str, ...]
    about: tuple[str, ...]
    to: tuple[str, ...]
    conjunctions: tuple[str, ...]
    minus: tuple[str, ...]
    afterthoughts: frozenset[str]
    no_names: frozenset[str]
    fillers: frozenset[str]


_file = partial(table_beside, __file__, "languages.toml")


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return {code: table for code, table in _file().items() if isinstance(table, dict)}


@cache
def codes() -> tuple[str, ...]:
    """The languages with complete data: "en", "de", ..."""
    return tuple(code for code, table in _tables().items() if "function_words" in table)


@cache
def language_names() -> dict[str, str]:
    """The languages that can be named in settings and messages, code -> name: "de" -> "German"."""
    pairs = (entry.split(maxsplit=1) for entry in _file()["language_names"].replace("\n", " ").split(","))
    return {code: name.strip() for code, name in pairs}


@cache
def words_of(key: str) -> frozenset[str]:
    """A word list that applies to all languages, by its key: "abbreviations"."""
    return frozenset(folded(_file()[key]).split())


# English forms of these are understood in every language.
_WITH_ENGLISH = frozenset({"ordinal_endings", "before_christ", "after_christ", "about", "scales"})


@cache
def language_of(code: str) -> Language:
    """The language of a code, with English months and scales in addition to its own. "" means all languages at once;
    the first that has a word decides its meaning."""
    known = code in codes()
    own = [code] if known else [*codes(), *(tag for tag in _tables() if tag not in codes())]
    with_english = [code, "en"] if known else own
    readers: dict[str, Callable[[str, Sequence[str]], Any]] = {"frozenset[str]": _words, "tuple[str, ...]": _patterns}
    tables: dict[str, Any] = {}
    for field in fields(Language):
        if field.name not in {"code", "months"}:
            read: Callable[[str, Sequence[str]], Any] = readers.get(str(field.type), _numbers)
            tables[field.name] = read(field.name, with_english if field.name in _WITH_ENGLISH else own)
    tables["function_words"] |= _words("hedges", own)
    months = {word: n for tag in reversed(with_english) for word, n in _months(tag).items()}
    return Language(code=code, months=months, **tables)


def month_name(code: str, month: int) -> str:
    """The name of a month (1 to 12) as a language writes it within a date; "" for a language that is not known."""
    names = _tables().get(code, {}).get("months", "").split()
    name = names[month - 1].partition("/")[0] if names else ""
    return name.capitalize() if code in ("en", "de") else name


def _words(key: str, among: Sequence[str]) -> frozenset[str]:
    return frozenset(word for code in among for word in folded(_tables()[code].get(key, "")).split())


def _patterns(key: str, among: Sequence[str]) -> tuple[str, ...]:
    patterns = (pattern for code in among for pattern in _tables()[code].get(key, ()))
    kept = ("º", "ª", "\\W")
    return tuple(dict.fromkeys(p if any(sign in p for sign in kept) else folded(p) for p in patterns))


def _numbers(key: str, among: Sequence[str]) -> dict[str, Any]:
    tables = [_tables()[code].get(key, {}) for code in reversed(among)]
    return {folded(word): value for table in tables for word, value in table.items()}


def _months(code: str) -> dict[str, int]:
    lists = (_tables()[code].get(key, "").split() for key in ("months", "short_months"))
    months = ((n, name) for names in lists for n, month in enumerate(names, start=1) for name in month.split("/"))
    return {folded(name): n for n, name in months if name != "-"}


@lru_cache(maxsize=16384)
def language(text: str) -> str:
    """The code of the language with the most function words in a text; "" if there is no clear winner."""
    words = [folded(word) for word in LETTERS.findall(text)]
    counted = {code: sum(word in language_of(code).function_words for word in words) for code in codes()}
    best, *others = sorted(counted, key=lambda code: -counted[code])
    clear = counted[best] >= 2 and counted[best] > counted[others[0]] and 5 * counted[best] >= len(words)
    return best if clear else ""


def is_function_word(word: str, code: str) -> bool:
    """Whether a folded word carries no meaning of its own; in an unknown language, whether it is short."""
    known = language_of(code)
    if code:
        return word in known.function_words or word in known.light_words or len(word) == 1
    return len(word) <= 3 or word in known.function_words


def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, folded; read as English where the language is not clear."""
    code = language(text) or "en"
    return frozenset(word for word in folded_words(text) if not is_function_word(word, code))


def is_comparing(word: str, code: str) -> bool:
    """Whether a folded word compares two things: it belongs to a conclusion, not to a stated fact."""
    return word in language_of(code).comparing_words


def is_negation(word: str, code: str) -> bool:
    return word in language_of(code).negations
