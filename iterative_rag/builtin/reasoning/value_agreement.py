"""Compares values by their words: whether two agree, which label one names."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import folded, stem, words
from iterative_rag.builtin.language.lexicon import counts_as
from iterative_rag.builtin.language.text_values import amounts, dates
from iterative_rag.text.other_names import country_of, nations_in
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import convert


def agree(first: str, second: str) -> bool:
    """Whether two values may name the same thing: one contains all words of the other, or hyponyms or synonyms of
    them ("lead singer", "lead vocalist")."""
    stems, other = ({stem(word) for word in words(value) if word != "the"} for value in (first, second))
    return bool(stems) and bool(other) and (_covers(stems, other) or _covers(other, stems))


def _covers(stems: set[str], other: set[str]) -> bool:
    return all(word in other or counts_as(word) & other for word in stems)


def pick_label(value: str, labels: Sequence[str]) -> str | None:
    said = set(words(value)) - {"the"}
    shared = [len(said & set(words(label))) for label in labels]
    best = max(shared, default=0)
    return labels[shared.index(best)] if best and shared.count(best) == 1 else None


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


def claim_holds(claimed: str, value: str, quote: str) -> bool | None:
    """Whether a value is what is claimed, as far as it tells: a country does not tell the city, nor a value the larger
    thing that its quote names with it."""
    days = [[day for day, _, _ in dates(text)] for text in (claimed, value)]
    if all(days):
        wanted = days[0][0]
        if any(wanted == day.cut(1 if not wanted.month else 2 if not wanted.day else 3) for day in days[1]):
            return True
        return False if len(days[1]) == 1 and (days[1][0].month or not wanted.month) else None
    sums = [amounts(text) for text in (claimed, value)]
    if all(sums) and not claimed[:1].isupper():
        (amount, _, _), (other, _, _) = sums[0][0], sums[1][0]
        changed = convert(amount.value, amount.unit, other.unit) if amount.unit and other.unit else amount.value
        return None if changed is None else abs(changed - other.value) <= 0.005 * abs(other.value)
    said, told, near = ({stem(word) for word in words(text) if word != "the"} for text in (claimed, value, quote))
    if said <= told:
        return True
    nations = [{country_of(nation) for nation in nations_in(text)} for text in (claimed, value)]
    if nations[0] and not _drop_country(claimed):
        return bool(nations[0] & nations[1]) if nations[1] else None
    shared = said & told - {stem(words(claimed)[0])}  # two people of one given name
    if not _drop_country(value) or shared or told <= said or said <= near or not value[:1].isupper():
        return None
    return False


_DEMONYM = lazy_pattern(r"(?:i?an|n|ish|ese|i|ic|er|ean)$")


def _is_adjective_of(name: str, adjective: str) -> bool:
    """Whether a word is the adjective of a name: "Westmark", "Westmarkian", but not "Jiang", "Jianan"."""
    stemmed = name.rstrip("aeiouy")
    rest = adjective.removeprefix(stemmed)
    return len(stemmed) > 3 and rest != adjective and (rest == "" or bool(_DEMONYM.fullmatch(rest)))


def says_yes(value: str) -> bool:
    return value.lower().startswith("yes")


def choose_label(values: Sequence[str], labels: Sequence[str], trusts: Sequence[float], *, wanted: bool) -> str | None:
    """The label of the side with the wanted answer; if both sides agree, the yes with more trust or the no with less.

    Without trusts the first label wins a tie. None if labels and values do not match.
    """
    if len(labels) != len(values) or not values:
        return None
    sure = [trust if len(trusts) == len(values) else 0.0 for trust in (trusts or [0.0] * len(values))]
    side = [(trust if says_yes(value) == wanted else -trust) for value, trust in zip(values, sure, strict=True)]
    says = [says_yes(value) == wanted for value in values]
    return labels[max(range(len(values)), key=lambda at: (says[at], side[at], -at))]


_PARTS = lazy_pattern(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+|\s*;\s*")


def list_items(value: str) -> list[str]:
    return [part for part in _PARTS.split(value) if part.strip()]
