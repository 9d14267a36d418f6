"""Sources that contradict each other: found among the facts of a need, shown with both sides cited, never averaged."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.text.comparing import excludes, same_name
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.other_names import asks_nation
from iterative_rag.text.patterns import LETTERS, lazy_pattern
from iterative_rag.text.value_members import compared, with_implied
from iterative_rag.text.values import Mention, Moment
from iterative_rag.types import Conflict, Draft, Fact, Inquiry, Need, Side
from iterative_rag.verification.text_reading import TextReading, listed, pattern, read_text, senses

# Facts that the built-in reader trusts less are too often of something else. Chosen on train rows: 1 of 84 answers to
# HotpotQA questions shows a conflict then, and 12 of 490 to 2WikiMultihopQA's, by far most of them between namesakes
# (at 0.4: 8 and 44). An LLM's facts all have a score of 1.
TRUSTED = 0.6
MOST_SIDES = 4
_LIFE = frozenset({"birth", "death"})

_YEAR = lazy_pattern(r"\([^()]*?(\d{4})[^()]*\)")


@dataclass(frozen=True, slots=True)
class _FactValue:
    """The value of a fact at `position`: its numbers and dates, or else the words of meaning; whether it is a name."""

    position: int
    fact: Fact
    values: tuple[Mention, ...]
    words: tuple[str, ...]
    is_name: bool


def conflicts(facts: Sequence[Fact], *, least: float = TRUSTED) -> tuple[Conflict, ...]:
    """Needs for which different documents give values that cannot all be true; facts below `least` do not count.

    No conflict: one value holds the other, says the same in other words or units, or is less exact; several values out
    of one document; a need that asks for several; figures of different years; the date of something else.
    """
    several = rf"\b{pattern('questions', 'several')}\b"
    by_need: dict[str, list[tuple[int, Fact]]] = {}
    for position, fact in enumerate(facts):
        if fact.value.strip() and fact.score >= least:
            by_need.setdefault(fact.need.key, []).append((position, fact))
    disputes = []
    for key, given in by_need.items():
        if len({fact.document_id for _, fact in given}) < 2 or re.search(several, folded(key)):
            continue
        of_it = [_read(position, fact) for position, fact in given if _is_about(fact) and not _dates_another(fact)]
        if sides := _sides(of_it):
            disputes.append(Conflict(given[0][1].need.question, sides))
    return tuple(disputes)


def with_conflicts(draft: Draft, inquiry: Inquiry) -> tuple[Draft, tuple[Conflict, ...]]:
    """The draft with both sides of what contradicts it cited, and these conflicts (positions in `Inquiry.facts`).

    An answer is only concerned by conflicts of the needs that it rests on, an abstention by all. What the text names
    already is not said again.
    """
    concerned = {inquiry.facts[position].need.key for position in draft.cited if position < len(inquiry.facts)}
    disputes = tuple(
        conflict for conflict in conflicts(inquiry.facts) if not draft.answered or Need(conflict.need).key in concerned
    )
    for conflict in disputes:
        draft = _told(draft, conflict, by_name=len(disputes) > 1 or len(concerned) > 1)
    return draft, disputes


def _told(draft: Draft, conflict: Conflict, *, by_name: bool) -> Draft:
    if all(side.value in draft.text and set(side.facts) & set(draft.cited) for side in conflict.sides):
        return draft
    cited = list(draft.cited)
    parts = []
    for side in conflict.sides:
        places = [position for position in side.facts if position in cited] or list(side.facts[:1])
        cited += [position for position in places if position not in cited]
        parts.append(side.value + " " + "".join(f"[{cited.index(position) + 1}]" for position in places))
    on = f" on “{conflict.need}”" if by_name else ""
    told = f"Sources differ{on}: {', '.join(parts)}."
    return replace(draft, text=f"{draft.text} {told}".strip(), cited=tuple(cited))


def _is_about(fact: Fact) -> bool:
    """Whether a fact names in one piece each name that it was looked up for; "George Lambton" is not John Lambton's son
    George, and "Ann Lee" does not stand for "the bridge of Ann Lee in Tellby".

    An article's title is enough if it is the name; of something named after it, the text must name it, too.
    """
    reading = read_text(compared(fact.need.question), language(fact.need.question))
    return all(_is_named(name, fact) for name in _called(reading))


def _dates_another(fact: Fact) -> bool:
    """Whether a quote tells when something else was than its need asks for: "Famous owner: Ann Lee (1848-1868)" is
    neither her birth nor her death. The years of a life stand behind the name in an article of one's own."""
    need = read_text(fact.need.question, language(fact.need.question))
    quote = read_text(fact.quote, language(fact.quote) or need.code)
    asked, told = (senses((word.low for word in reading.others), "relations") for reading in (need, quote))
    if not asked or asked & told or not any(value.is_time for value in read_text(fact.value, "").values):
        return False
    if asked & _LIFE and all(_is_title(name, fact) for name in _called(need)):
        return False
    said = {word.low for word in quote.others if word.low.isalpha()} - need.lows - {*_lows(fact.value)}
    return any(not any(is_function_word(low, code) for code in (quote.code, "en")) for low in said)


def _called(reading: TextReading) -> list[list[str]]:
    """The names of a question, of "Aldric III of Kestria" the first: what follows only tells where."""
    called, end = [], len(reading.text)
    for name in reading.names:
        if folded(reading.text[end : name[0].start]).strip(" .") not in listed("names", "of"):
            called.append([word.low for word in name])
        end = name[-1].end
    return called


def _is_named(name: Sequence[str], fact: Fact) -> bool:
    return _is_title(name, fact) or any(_runs(name, _lows(text)) for text in (fact.statement, fact.quote))


def _is_title(name: Sequence[str], fact: Fact) -> bool:
    return _runs(name, _title_words(fact), beside=1)


def _runs(name: Sequence[str], lows: Sequence[str], beside: float = math.inf) -> bool:
    """Whether the words of a name stand one after another, with at most as many others. A long name may be said without
    what stands before it: "Aldric III" for "King Aldric III"."""
    for form in (name, name[1:]) if len(name) > 2 else (name,):
        windows = (lows[n : n + len(form)] for n in range(len(lows) - len(form) + 1))
        if len(lows) <= len(form) + beside and any(all(map(same_name, form, window)) for window in windows):
            return True
    return False


def _read(position: int, fact: Fact) -> _FactValue:
    code = language(fact.need.question) or language(fact.quote)
    reading = read_text(compared(fact.value, nationality=asks_nation(fact.need.question)), code)
    if reading.values and reading.values[0].named:  # "Apollo 11"
        return _FactValue(position, fact, (), tuple(folded(fact.value).split()), is_name=True)
    said = [word for word in reading.words if len(word.low) == 1 or not is_function_word(word.low, code)]
    long = [word for word in said if len(word.low) > 1]
    is_name = bool(long) and all(word.capital for word in long)
    values = with_implied(reading.values, reading.text)
    return _FactValue(position, fact, values, tuple(word.low for word in said), is_name)


def _title_words(fact: Fact) -> list[str]:
    """Without what tells a title from others of the name: "White Cargo (1973 film)"."""
    return _lows(fact.title.split(" (")[0])


def _lows(text: str) -> list[str]:
    return [folded(word) for word in LETTERS.findall(compared(text)) if word != "s"]


def _sides(given: Sequence[_FactValue]) -> tuple[Side, ...]:
    """The groups of agreeing values, if two of them exclude each other; the best supported first."""
    groups: list[list[_FactValue]] = []
    for value in given:
        if home := next((group for group in groups if any(_agree(value, other) for other in group)), None):
            home.append(value)
        else:
            groups.append([value])
    opposed = [group for group in groups if any(_oppose(group, other) for other in groups if other is not group)]
    opposed.sort(
        key=lambda group: (-len({value.fact.document_id for value in group}), -max(value.fact.score for value in group))
    )
    return tuple(
        Side(max(group, key=lambda value: value.fact.score).fact.value, tuple(value.position for value in group))
        for group in opposed[:MOST_SIDES]
    )


def _agree(value: _FactValue, other: _FactValue) -> bool:
    if value.values and other.values:
        return any(not excludes(a, b) for a in value.values for b in other.values)
    return not value.values and not other.values and _holds(value.words, other.words)


def _oppose(group: Sequence[_FactValue], other: Sequence[_FactValue]) -> bool:
    """Whether two groups come from different documents, none of which gives both, and each excludes the other."""
    if {value.fact.document_id for value in group} & {value.fact.document_id for value in other}:
        return False
    return all(_exclude(value, another) for value in group for another in other)


def _exclude(value: _FactValue, other: _FactValue) -> bool:
    """Whether two values cannot both be true, as far as can be told without knowing the world."""
    if _namesakes(value.fact, other.fact):
        return False
    if value.values and other.values:
        differ = all(excludes(a, b) for a in value.values for b in other.values)
        # "3 sons" and "5 daughters" say nothing against each other.
        apart = value.words and other.words and not any(same_name(a, b) for a in value.words for b in other.words)
        return differ and not apart and not _of_other_years(value, other)
    if value.values or other.values or not (value.is_name and other.is_name):
        return False
    return not (_holds(value.words, other.words) or _names(value, other) or _names(other, value))


def _of_other_years(figure: _FactValue, other: _FactValue) -> bool:
    """Whether two figures (no dates) are each of a year of its own, as populations are."""
    if any(value.is_time for given in (figure, other) for value in given.values):
        return False
    told = (read_text(given.fact.quote, language(given.fact.quote)).values for given in (figure, other))
    moments = ([said for value in values if isinstance(said := value.readings[0], Moment)] for values in told)
    first, second = ({moment.parts[0] for moment in dated} - {None} for dated in moments)
    return bool(first and second) and not first & second


def _names(value: _FactValue, other: _FactValue) -> bool:
    """Whether one's quote or title names the other's value, too: "Karsa in Westmark"."""
    held = _lows(f"{value.fact.quote} {value.fact.title}")
    return all(any(same_name(word, low) for low in held) for word in other.words)


def _holds(name: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one name holds the other, endings and initials aside: "Brenk", "O. Brenk" and "Oda Brenk"."""
    short, long = sorted((name, other), key=len)
    return bool(short) and all(
        any(same_name(word, full) or (1 in (len(word), len(full)) and word[0] == full[0]) for full in long)
        for word in short
    )


def _namesakes(fact: Fact, other: Fact) -> bool:
    """Whether two articles have one name and are told apart by a year: "White Cargo" and "White Cargo (1973 film)"."""
    apart = set(_YEAR.findall(fact.title)) != set(_YEAR.findall(other.title))
    return apart and _title_words(fact) == _title_words(other)
