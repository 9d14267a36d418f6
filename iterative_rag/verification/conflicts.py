"""Sources that contradict each other: found among the facts of a need, shown with both sides cited, never averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.text.comparing import excludes
from iterative_rag.text.dates import Date
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.mentions import mentions
from iterative_rag.text.names import same_name
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.periods import term
from iterative_rag.text.units import dimension
from iterative_rag.text.values import Mention, Moment, Quantity
from iterative_rag.types import Conflict, Draft, Fact, Inquiry, Need, Side
from iterative_rag.verification.text_reading import read_text

# Facts that the built-in reader trusts less are too often of something else. Chosen on train rows: 1 of 84 answers to
# HotpotQA questions shows a conflict then, and 12 of 490 to 2WikiMultihopQA's, by far most of them between namesakes
# (at 0.4: 8 and 44). An LLM's facts all have a score of 1.
TRUSTED = 0.6
MOST_SIDES = 4

# Needs that have several answers by nature: their facts add up, they do not contradict each other.
_SEVERAL = lazy_pattern(
    r"\b(?:members?|mitglieder|membres|miembros|membri|list|all|each|both|children|siblings|names|kinder|enfants|hijos|"
    r"who (?:are|were)|(?:what|which) (?:\w+ ){0,2}(?:are|were)|welche \w+ (?:sind|waren)|wer (?:sind|waren)|"
    r"qui (?:sont|etaient)|quienes|quali|quels|quelles|which .* and .*|one of|any|some)\b"
)
_WORD = lazy_pattern(r"[^\W\d_]+")
_YEAR = lazy_pattern(r"\([^()]*?(\d{4})[^()]*\)")


@dataclass(frozen=True, slots=True)
class _Said:
    """The value of one fact, taken apart; `large` says that all its words of meaning are written so, as in a name."""

    place: int
    fact: Fact
    values: tuple[Mention, ...]
    words: tuple[str, ...]
    large: bool = False


def conflicts(facts: Sequence[Fact], *, least: float = TRUSTED) -> tuple[Conflict, ...]:
    """Needs for which different documents give values that cannot all be true; facts below `least` do not count.

    No conflict: one value holds the other, says the same in other words or units, or is less exact; several values out
    of one document; a need that asks for several; figures of different years.
    """
    by_need: dict[str, list[_Said]] = {}
    for place, fact in enumerate(facts):
        if fact.value.strip() and fact.score >= least and _is_about(fact):
            by_need.setdefault(fact.need.key, []).append(_said(place, fact))
    found = []
    for question, said in by_need.items():
        if not _SEVERAL.search(folded(question)) and (sides := _sides(said)):
            found.append(Conflict(said[0].fact.need.question, sides))
    return tuple(found)


def with_conflicts(draft: Draft, inquiry: Inquiry, *, least: float = TRUSTED) -> tuple[Draft, tuple[Conflict, ...]]:
    """The draft with both sides of what contradicts it cited, and these conflicts (positions in `Inquiry.facts`).

    An answer is only concerned by conflicts of the needs that it rests on, an abstention by all. What the text names
    already is not said again.
    """
    concerned = {inquiry.facts[place].need.key for place in draft.cited if place < len(inquiry.facts)}
    found = tuple(
        conflict
        for conflict in conflicts(inquiry.facts, least=least)
        if not draft.answered or Need(conflict.need).key in concerned
    )
    for conflict in found:
        draft = _told(draft, conflict, by_name=len(found) > 1 or len(concerned) > 1)
    return draft, found


def _told(draft: Draft, conflict: Conflict, *, by_name: bool) -> Draft:
    cited = list(draft.cited)
    parts = []
    for side in conflict.sides:
        places = [place for place in side.facts if place in cited] or list(side.facts[:1])
        cited += [place for place in places if place not in cited]
        parts.append(side.value + " " + "".join(f"[{cited.index(place) + 1}]" for place in places))
    if all(side.value in draft.text and set(side.facts) & set(draft.cited) for side in conflict.sides):
        return draft
    on = f" on “{conflict.need}”" if by_name else ""
    told = f"Sources differ{on}: {', '.join(parts)}."
    return replace(draft, text=f"{draft.text} {told}".strip(), cited=tuple(cited))


def _sides(said: Sequence[_Said]) -> tuple[Side, ...]:
    """The groups of agreeing values, if two of them exclude each other; the best supported first."""
    groups: list[list[_Said]] = []
    for one in said:
        home = next((group for group in groups if any(_agree(one, other) for other in group)), None)
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    opposed = [group for group in groups if any(_oppose(group, other) for other in groups if other is not group)]
    opposed.sort(
        key=lambda group: (-len({one.fact.document_id for one in group}), -max(one.fact.score for one in group))
    )
    return tuple(
        Side(max(group, key=lambda one: one.fact.score).fact.value, tuple(one.place for one in group))
        for group in opposed[:MOST_SIDES]
    )


def _oppose(group: Sequence[_Said], other: Sequence[_Said]) -> bool:
    """Whether two groups come from different documents, none of which gives both, and each excludes the other."""
    if {one.fact.document_id for one in group} & {one.fact.document_id for one in other}:
        return False
    return all(_exclude(one, another) for one in group for another in other)


def _agree(one: _Said, other: _Said) -> bool:
    if one.values and other.values:
        return any(not excludes(a, b) for a in one.values for b in other.values) and _compatible(one, other)
    return not one.values and not other.values and _holds(one.words, other.words)


def _exclude(one: _Said, other: _Said) -> bool:
    """Whether two values cannot both be true, as far as can be told without knowing the world."""
    if _namesakes(one.fact, other.fact):
        return False
    if one.values and other.values:
        if any(not _comparable(a, b) for a in one.values for b in other.values):
            return False
        differ = all(excludes(a, b) for a in one.values for b in other.values)
        return differ and _compatible(one, other) and not _of_other_years(one, other)
    if one.values or other.values or not (one.large and other.large) or _in_turn(one.fact, other.fact):
        return False
    return not _holds(one.words, other.words) and not (_mentions(one, other) or _mentions(other, one))


def _comparable(one: Mention, other: Mention) -> bool:
    """Whether two values measure the same, as far as their units tell: a length says nothing against a weight."""
    first, second = (
        {dimension(reading.unit) for reading in value.readings if isinstance(reading, Quantity) and reading.unit}
        for value in (one, other)
    )
    return not first or not second or bool(first & second)


def _compatible(one: _Said, other: _Said) -> bool:
    """Whether what is counted is the same: "3 sons" and "5 daughters" say nothing against each other."""
    return not one.words or not other.words or bool(set(one.words) & set(other.words)) or _holds(one.words, other.words)


def _of_other_years(one: _Said, other: _Said) -> bool:
    """Whether two figures (no dates) are each of a year of its own, as populations are."""
    if any(value.is_time for said in (one, other) for value in said.values):
        return False
    first, second = (_years(said.fact.quote) for said in (one, other))
    return bool(first and second) and not first & second


def _years(quote: str) -> set[int]:
    readings = (value.readings[0] for value in read_text(quote, language(quote)).values)
    years = (reading.parts[0] for reading in readings if isinstance(reading, Moment))
    return {year for year in years if year is not None}


def _in_turn(one: Fact, other: Fact) -> bool:
    """Whether a time is asked for at which, by the dates of two facts, one followed the other: office-holders of one
    year. Without such a time the dates may be those of lives."""
    first, second = (term(fact.quote, language(fact.quote)) for fact in (one, other))
    if first is None or second is None or not (first.is_before(second) or second.is_before(first)):
        return False
    asked = [value.readings[0] for value in mentions(one.need.question, language(one.need.question))]
    dates = [value.date for value in asked if isinstance(value, Moment) and isinstance(value.date, Date)]
    return any(first.touches(date) and second.touches(date) for date in dates)


def _mentions(one: _Said, other: _Said) -> bool:
    """Whether one's quote or title names the other's value, too: "Karsa in Westmark"."""
    held = _lows(f"{one.fact.quote} {one.fact.title}")
    return all(any(same_name(word, low) for low in held) for word in other.words)


def _holds(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one name holds the other, endings and initials aside: "Brenk", "O. Brenk" and "Oda Brenk"."""
    short, long = sorted((one, other), key=len)
    return bool(short) and all(
        any(same_name(word, full) or (1 in (len(word), len(full)) and word[0] == full[0]) for full in long)
        for word in short
    )


def _is_about(fact: Fact) -> bool:
    """Whether a fact names in one piece what it was looked up for; "George Lambton" is not John Lambton's son George.

    An article's title is enough if it is the name; of something named after it, the text must name it, too.
    """
    code = language(fact.need.question)
    asked = [[word.low for word in name] for name in read_text(fact.need.question, code).names]
    # A long name may be said without what stands before it: "Aldric III" for "King Aldric III".
    asked += [name[1:] for name in asked if len(name) > 2]
    title = _lows(fact.title.split(" (")[0])
    if any(_runs(name, title) and len(title) <= len(name) + 1 for name in asked):
        return True
    return not asked or any(_runs(name, _lows(text)) for name in asked for text in (fact.statement, fact.quote))


def _lows(text: str) -> list[str]:
    return [folded(word) for word in _WORD.findall(text) if word != "s"]


def _runs(name: Sequence[str], lows: Sequence[str]) -> bool:
    """Whether the words of a name stand one after another."""
    return any(
        all(same_name(word, low) for word, low in zip(name, lows[n : n + len(name)], strict=True))
        for n in range(len(lows) - len(name) + 1)
    )


def _namesakes(one: Fact, other: Fact) -> bool:
    """Whether two articles have one name and are told apart by a year: "White Cargo" and "White Cargo (1973 film)"."""
    apart = set(_YEAR.findall(one.title)) != set(_YEAR.findall(other.title))
    return apart and _lows(one.title.split(" (")[0]) == _lows(other.title.split(" (")[0])


def _said(place: int, fact: Fact) -> _Said:
    code = language(fact.need.question) or language(fact.quote)
    found = read_text(fact.value, code).values
    words = [
        folded(match[0])
        for match in _WORD.finditer(fact.value)
        if not any(value.start <= match.start() < value.end for value in found)
    ]
    names = [word for word in words if not is_function_word(word, code) or len(word) == 1]
    # A number inside a name ("Apollo 11") is part of the name.
    if (
        found
        and not isinstance(found[0].readings[0], Moment)
        and any(word[:1].isupper() for word in _WORD.findall(fact.value[: found[0].start]))
    ):
        return _Said(place, fact, (), tuple(folded(fact.value).split()), large=True)
    written = [word for word in _WORD.findall(fact.value) if len(word) > 1 and not is_function_word(folded(word), code)]
    large = bool(written) and all(word[0].isupper() for word in written)
    return _Said(place, fact, found, tuple(names), large)
