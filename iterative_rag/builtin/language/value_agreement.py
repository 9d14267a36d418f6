"""Compares values by their words: whether two agree, are the same, or say yes."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import folded, stem, words
from iterative_rag.builtin.language.lexicon import counts_as
from iterative_rag.text.numerals import with_digits
from iterative_rag.text.other_names import country_of, nations_in
from iterative_rag.text.patterns import lazy_pattern


def agree(first: str, second: str) -> bool:
    """Whether two values may name the same thing: one contains all words of the other, or hyponyms or synonyms of
    them ("lead singer", "lead vocalist"), or the same number ("thirty", "30")."""
    texts = (with_digits(value, "en").text for value in (first, second))
    stems, other = ({stem(word) for word in words(text) if word != "the"} for text in texts)
    return bool(stems) and bool(other) and (_covers(stems, other) or _covers(other, stems))


def _covers(stems: set[str], other: set[str]) -> bool:
    return all(word in other or counts_as(word) & other for word in stems)


def compare_same(values: Sequence[str], unit: str) -> str | None:
    """ "Yes" if two values have the same words, share a list item, or are a country and its adjective; else "No".

    With `unit` "part", parts of a country are compared; None if a value names only the country.
    """
    smaller = [_drop_country(value) for value in values[:2]]
    nations = [{country_of(nation) for nation in nations_in(value)} for value in values[:2]]
    if unit == "part" and not all(smaller):
        return None
    if not all(smaller) and all(nations):
        return "Yes" if nations[0] & nations[1] else "No"
    if not all(smaller):
        smaller = list(values[:2])
    first, second = (set(words(value)) - {"the"} for value in smaller)
    both = {folded(item) for item in list_items(smaller[0])} & {folded(item) for item in list_items(smaller[1])}
    near = any(_is_adjective_of(a, b) or _is_adjective_of(b, a) for a in first for b in second)
    return "Yes" if first and second and (first <= second or second <= first or near or both) else "No"


def _drop_country(value: str) -> str:
    """Drop the country: "Lyon, France" -> "Lyon"; "" for a country alone."""
    kept = []
    for part in value.split(","):
        there = nations_in(part)
        whole = there and all(country_of(nation) == nation for nation in there)
        said = [word for word in words(part) if word not in {"the", "of", "and"}]
        if not (whole and len(said) <= sum(len(nation.split()) for nation in there)):
            kept.append(part.strip())
    return ", ".join(part for part in kept if part)


_DEMONYM = lazy_pattern(r"(?:i?an|n|ish|ese|i|ic|er|ean)$")


def _is_adjective_of(name: str, adjective: str) -> bool:
    """Whether a word is the adjective of a name: "Westmark", "Westmarkian", but not "Jiang", "Jianan"."""
    stemmed = name.rstrip("aeiouy")
    rest = adjective.removeprefix(stemmed)
    return len(stemmed) > 3 and rest != adjective and (rest == "" or bool(_DEMONYM.fullmatch(rest)))


def says_yes(value: str) -> bool:
    return value.lower().startswith("yes")


def choose_label(values: Sequence[str], labels: Sequence[str], trusts: Sequence[float]) -> str:
    """The label of the side that says yes; if both or none do, the yes with more trust or the no with less."""
    sides = [
        (says_yes(value), trust if says_yes(value) else -trust) for value, trust in zip(values, trusts, strict=True)
    ]
    return labels[sides.index(max(sides))]


_PARTS = lazy_pattern(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+|\s*;\s*")


def list_items(value: str) -> list[str]:
    return [part for part in _PARTS.split(value) if part.strip()]
