"""How facts and what was tried are shown to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from iterative_rag.llm.prompts import as_field, fence, lines
from iterative_rag.types import Fact, Inquiry, Need, Place

NO_FACTS, NOTHING_TRIED = "(none yet)", "(nothing yet)"
NOT_TO_ITS_END = '; the rest of "{}" was not read: ask in other words, which it may use'
# Characters of each quote that are shown: the first of these lengths with which all facts fit. The longest is that of
# the quotes that an extractor makes, whose last row may be the one that decides.
QUOTE_LENGTHS = (1000, 600, 300, 120, 0)


def fact_numbers(facts: Sequence[Fact]) -> list[int]:
    """The number of each fact, from 1 and without gaps. What says the same has one number, with all of its quotes:
    facts with one statement, and those that give a value by one quote."""
    first: dict[tuple[object, ...], int] = {}
    numbers: list[int] = []
    for fact in facts:
        keys: list[tuple[object, ...]] = [(" ".join(fact.statement.split()).casefold(),)]
        if fact.value:
            keys.append((*fact.place, fact.value.casefold()))
        number = min((first[key] for key in keys if key in first), default=max(numbers, default=0) + 1)
        first |= {key: first.get(key, number) for key in keys}
        numbers.append(number)
    return numbers


def numbered_places(facts: Sequence[Fact]) -> list[tuple[int, ...]]:
    """The positions of the facts behind each number, one for each quote."""
    places: dict[int, dict[Place, int]] = {}
    for position, (n, fact) in enumerate(zip(fact_numbers(facts), facts, strict=True)):
        places.setdefault(n, {}).setdefault(fact.place, position)
    return [tuple(quotes.values()) for quotes in places.values()]


def nothing_found(inquiry: Inquiry) -> str:
    """What is missing where no fact was found at all: the look-ups, by name."""
    looked = "; ".join(dict.fromkeys(need.question for need in inquiry.tried))
    return f"Nothing was found about: {looked}" if looked else "No fact was found."


def fact_lines(facts: Sequence[Fact], fact_chars: int) -> str:
    """The facts as `[n] statement (title: "quote"; title: "quote")` lines, quotes cut until all fit into `fact_chars`.

    A quote that proves several facts is shown with the first of them. The facts of one need stand in a fence of their
    own. Facts of later hops are added behind, in fences of their own, so that every prompt of a run begins like the one
    before: servers keep what they computed for such a prefix.
    """
    if not facts:
        return NO_FACTS
    shown = [(n, [facts[index] for index in places]) for n, places in enumerate(numbered_places(facts), start=1)]
    quoted: dict[Place, int] = {}
    for n, fact in ((n, fact) for n, told in shown for fact in told):
        quoted.setdefault(fact.place, n)
    blocks: list[str] = []
    for length in QUOTE_LENGTHS:
        by_need = groupby(shown, key=lambda numbered: numbered[1][0].need.key)
        blocks = [lines(_line(n, told, length, quoted) for n, told in group) for _, group in by_need]
        if sum(map(len, blocks)) <= fact_chars:
            break
    return "\n".join(fence(block, "facts") for block in blocks)


def new_fact_marks(facts: Sequence[Fact], new: int) -> str:
    """`[3][4]`: the numbers of the last `new` facts, as `fact_lines` shows them; without those that were shown before,
    unless no others are left."""
    numbers = fact_numbers(facts)
    known, added = numbers[: len(facts) - new], dict.fromkeys(numbers[len(facts) - new :])
    return "".join(f"[{n}]" for n in [n for n in added if n not in known] or added)


def _line(n: int, told: Sequence[Fact], length: int, quoted: Mapping[Place, int]) -> str:
    quotes = [_quote(n, fact, length, quoted) for fact in told] if length else []
    return f"[{n}] {told[0].statement} ({'; '.join(dict.fromkeys(quotes)) or as_field(told[0].title)})"


def _quote(n: int, fact: Fact, length: int, quoted: Mapping[Place, int]) -> str:
    if (first := quoted[fact.place]) != n:
        return f"the quote of [{first}]"
    quote = " ".join(fact.quote.split())
    if len(quote) > length:
        quote = quote[:length].rstrip() + " ..."
    return f'{as_field(fact.title)}: "{quote}"'


def tried_needs(inquiry: Inquiry) -> str:
    """Each need once, with the numbers of the facts found for it, marked where none of them has the value, where the
    article that it named was not found or not read to its end, or where its texts could not be read. Facts that were
    noted for another part of the question are about no need that was tried. Then the articles in which nothing is left
    to read (no text is shown twice), and what a draft of the answer lacked."""
    numbers: dict[Need, list[int]] = {need: [] for need in inquiry.tried}
    valued: set[Need] = set()
    for n, fact in zip(fact_numbers(inquiry.facts), inquiry.facts, strict=True):
        if fact.need in numbers:
            numbers[fact.need].append(n)
        if fact.value:
            valued.add(fact.need)
    tried = []
    for need, ns in numbers.items():
        nothing = "its texts could not be read" if need.key in inquiry.unread else "nothing found"
        marks = "".join(f"[{n}]" for n in dict.fromkeys(ns)) or nothing
        partly = " (partly: the value itself is not stated)" if ns and need not in valued else ""
        named = dict.fromkeys(twin.see for twin in inquiry.tried if twin == need and twin.see in inquiry.absent)
        absent = "".join(f'; no article "{as_field(title)}" was found' for title in named)
        rests = [title for key, title in inquiry.left if key == need.key and title not in inquiry.exhausted]
        left = "".join(map(NOT_TO_ITS_END.format, map(as_field, rests))) if need not in valued else ""
        tried.append(f"- {need.question} -> {marks}{partly}{absent}{left}")
    if inquiry.exhausted:
        titles = ", ".join(f'"{as_field(title)}"' for title in inquiry.exhausted)
        tried.append(f"- Article exhausted, nothing of it is left to show: {titles}")
    if inquiry.missing:
        tried.append(f"- An answer from these facts, which lacks: {inquiry.missing}")
    shown = lines(tried) or NOTHING_TRIED
    if inquiry.lost_rows:
        lost = fence(lines(f"- {as_field(name)}" for name in dict.fromkeys(map(str, inquiry.lost_rows))), "lists")
        told = "this corpus has their headings alone: look in another article, or go on without them"
        shown += f"\n\nLISTS WITHOUT ROWS ({told}):\n{lost}"
    return shown
