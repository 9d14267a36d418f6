"""Names that are said in more than one way: codes, short names and adjectives of countries, organisations, offices.

"The USA", "the U.S." and "the United States" are one name. Two texts are compared in one form of each name
(`common_names`); questions about an office are asked in full (`spelled_out`). An adjective is its country only where a
nationality is asked for, or before an institution: "the French president", but no translation and nobody's surname. All
of it is in `other_names.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import TypeAlias

from iterative_rag.text.folding import PLAIN_SIGNS, folded, folded_in_place
from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import lazy_pattern, table_beside

_LARGE = lazy_pattern(r"[A-ZÀ-Þ]")
_WORDS, _NOTHING = lazy_pattern(r"(?<![\w.])\w+"), lazy_pattern("(?!)")
_WORD_BEFORE = lazy_pattern(r"(?P<sentence>(?:^|[.!?:]\s+)?)(?P<word>[^\W\d_][\w'-]*) $")
_WORD_AFTER = lazy_pattern(r" (?P<word>[^\W\d_][\w'-]*)")
_LANGUAGE_BEFORE = lazy_pattern(r"\b(?:in|into|speaks?|spoke|speaking|written|sung|learn(?:ed|t)?) $", re.IGNORECASE)
_LANGUAGE_AFTER = lazy_pattern(
    r"[ -](?:speaking|language|translations?|translated|words?|versions?|editions?|dialects?|lessons|alphabet|grammar|"
    r"spelling|names?|title|term)\b"
)
_ASKS_NATION = lazy_pattern(
    r"\bnationalit|\bcitizen|\b(?:what|which|whose) (?:\w+ ){0,2}?(?:country|countries|nation)\b", re.IGNORECASE
)
_ASKS_LANGUAGE = lazy_pattern(r"\b(?:languages?|speaks?|spoken|tongue)\b", re.IGNORECASE)
# How far around a name its neighbours are looked for.
_REACH = 40


@dataclass(frozen=True, slots=True)
class _Name:
    """One name: the form that it is compared in, what else it is called, and its adjectives. `counting` only counts as
    the country where nationalities are compared; `whole` is the larger region."""

    form: str
    others: tuple[str, ...]
    adjectives: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    whole: str | None = None


_file = partial(table_beside, __file__, "other_names.toml")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(";") if name.strip())


@cache
def _names() -> tuple[_Name, ...]:
    file = _file()
    plain = file["titles"] | file["organisations"] | file["countries"]
    names = [_Name(form, _listed(others)) for form, others in plain.items()]
    for region, countries in file["regions"].items():
        for form, columns in countries.items():
            others, adjectives, counting = map(_listed, f"{columns}||".split("|")[:3])
            names.append(_Name(form, others, adjectives, counting, region))
    for whole, parts in file["parts"].items():
        for part in _listed(parts):
            form, *forms = (name.strip() for name in part.split("|"))
            names.append(_Name(form, (), (), tuple(forms), whole))
    return tuple(names)


def _key(said: str) -> str:
    """The same for "U.S.", "U. S." and "U.S" (codes are capitals), and for "Côte d’Ivoire" with any apostrophe."""
    plain = said.translate(PLAIN_SIGNS)
    return re.sub(r"[. ]", "", plain) if plain.isupper() else plain.removeprefix("the ")


def _spelt(name: str) -> str:
    """A pattern of a name: of a code with stops, also without the last one and with blanks."""
    if name.isupper() and "." in name:
        return r"\. ?".join(name.rstrip(".").split(".")) + r"\.?"
    return re.escape(name).replace("'", "['’]")


_Table: TypeAlias = tuple[Mapping[str, _Name], re.Pattern[str]]


@cache
def _table(*, in_full: bool) -> _Table:
    """What `common_names` or `spelled_out` looks for: all other names, or codes of countries and offices alone."""
    chosen = {other: name for name in _names() for other in name.others}
    if in_full:
        chosen = {other: name for other, name in chosen.items() if other.isupper() and not name.form.isupper()}
    any_case = {name.upper() for name in _listed(_file()["spelling"]["any_case"])}
    free, exact = (
        "|".join(_spelt(other) for other in sorted(chosen, key=len, reverse=True) if (other in any_case) is free)
        for free in (True, False)
    )
    pattern = rf"(?<![\w.$])(?:(?i:{free})|{exact}|(?<=\bthe )(?:us|un|eu)(?!['’]))(?![\w$])"
    return {_key(other): name for other, name in chosen.items()}, re.compile(pattern)


@cache
def _adjectives() -> _Table:
    adjectives = {adjective: name for name in _names() for adjective in name.adjectives}
    listed = "|".join(sorted(map(re.escape, adjectives), key=len, reverse=True))
    return adjectives, re.compile(rf"(?<![\w.$-])(?:{listed})(?!\w)")


def common_names(text: str, *, nationality: bool = False) -> str:
    """The text with every name in the form that texts are compared in: "the UK's army" for "the British army".
    `nationality`: every adjective that may be one is its country."""
    text = _kept(text) if len(text) <= 200 else _in_one_form(text)
    return _with_countries(text, "") if nationality else text


def _in_one_form(text: str) -> str:
    institutions = "|".join(name.replace("_", " ") for name in _file()["spelling"]["institutions"].split())
    return _with_countries(_replaced(text, _table(in_full=False)), f" (?:{institutions})\\b")


_kept = lru_cache(maxsize=32768)(_in_one_form)


def spelled_out(question: str) -> str:
    """A question with offices and the codes of countries in full: "the 15th president of the United States" for "the
    15th POTUS"."""
    return _replaced(question, _table(in_full=True))


def _replaced(text: str, table: _Table) -> str:
    forms, pattern = table

    def written(match: re.Match[str]) -> str:
        said = match[0]
        name = forms.get(_key(said)) or forms.get(_key(said.upper()))
        if name is None or not _is_meant(said, match):
            return said
        ends = said.endswith(".") and match.end() == len(text)
        return f"{'the ' if said.startswith('the ') else ''}{name.form}{'.' if ends else ''}"

    return pattern.sub(written, text)


def _is_meant(said: str, match: re.Match[str]) -> bool:
    """Whether what is written like a code or a name is one: not "US" among capitals, and not "Tom Holland"."""
    text = match.string
    if said in {"US", "WHO"} and said != text.strip(" .?!"):  # codes that are also words
        return not text.isupper() and (said != "WHO" or match.start() > 0 or not text.rstrip().endswith("?"))
    return said.isupper() or not said[0].isupper() or not _within_name(match)


def _within_name(match: re.Match[str]) -> bool:
    """Whether a capitalised word stands right beside a name, so that it is a part of another one."""
    text, start = match.string, match.start()
    beside = (_WORD_BEFORE.search(text[max(0, start - _REACH) : start]), _WORD_AFTER.match(text, match.end()))
    words = [near["word"] for near in beside if near]
    return any(word[0].isupper() and folded(word) not in language_of("en").function_words for word in words)


def _with_countries(text: str, after: str) -> str:
    """The text with adjectives as their countries where `after` follows, and no language or person is meant."""
    countries, pattern = _adjectives()

    def written(match: re.Match[str]) -> str:
        if after and not re.match(after, text[match.end() :]):
            return match[0]
        language = _LANGUAGE_BEFORE.search(text[: match.start()]) or _LANGUAGE_AFTER.match(text, match.end())
        return match[0] if language or _within_name(match) else countries[match[0]].form

    return pattern.sub(written, text)


def asks_nation(question: str) -> bool:
    """Whether a country or a nationality is asked for, so that the adjective answers as the name does."""
    return bool(_ASKS_NATION.search(question)) and not _ASKS_LANGUAGE.search(question)


@cache
def _nations() -> tuple[Mapping[str, str], Mapping[str, re.Pattern[str]]]:
    """The form of each name, and by a word the names that begin with it: a pattern of all takes 4 ms to compile."""
    forms = {
        folded_in_place(said).removesuffix("."): name.form
        for name in _names()
        if name.whole is not None
        for said in (*name.counting, *name.adjectives, *name.others, name.form)
    }
    by_word: dict[str, list[str]] = {}
    for said in sorted(forms, key=len, reverse=True):
        by_word.setdefault(re.split(r"\W", said)[0], []).append(re.escape(said))
    return forms, {word: lazy_pattern(f"(?:{'|'.join(names)})(?!\\w)") for word, names in by_word.items()}


@lru_cache(maxsize=4096)
def nations_in(text: str) -> tuple[str, ...]:
    """Countries, their parts and continents in a text by name or adjective, in order, without duplicates. Only
    capitalised words name one: "turkey" does not."""
    (forms, by_word), plain, end, named = _nations(), folded_in_place(text), 0, []
    for word in _WORDS.finditer(plain):
        if word.start() >= end and (match := by_word.get(word[0], _NOTHING).match(plain, word.start())):
            end = match.end()
            named += [forms[match[0]]] if _LARGE.match(text[match.start()]) else []
    return tuple(dict.fromkeys(named))


def nation_named(text: str) -> str:
    """The nation that the whole text names; "" for anything else."""
    return _nations()[0].get(folded_in_place(text).strip(" .").removeprefix("the "), "")


@lru_cache(maxsize=4096)
def country_of(nation: str) -> str:
    """The country of a state or part of a country; a continent is returned unchanged."""
    wholes = {name.form: name.whole for name in _names() if name.whole}
    while wholes.get(wholes.get(nation, "")):
        nation = wholes[nation]
    return nation
