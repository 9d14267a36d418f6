"""The numbers of an answer's citations, and the chain of what was asked and found on the way to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.text.mentions import with_unit
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import ChainLink, Citation, Fact

_MARKS = lazy_pattern(r"(?:\[\d{1,4}\])+")


@dataclass(frozen=True, slots=True)
class CitationNumbers:
    """One number for each quote, however many of the `facts` of a run were read from it.

    `cited` are the positions of the facts that a draft cites: its marker [n] stands for the n-th of them. `rests_on` is
    that of a ValueFlow.
    """

    facts: Sequence[Fact]
    cited: tuple[int, ...]
    rests_on: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def of(self, places: Sequence[int]) -> tuple[int, ...]:
        """The numbers of the facts at these positions, for those that are cited."""
        numbers = self._numbers()
        return tuple(dict.fromkeys(numbers[place] for place in places if place in numbers))

    def renumbered(self, text: str) -> str:
        """A text of the draft with the numbers of the citations in its markers."""
        numbers = list(self._numbers().values())

        def replaced(marks: re.Match[str]) -> str:
            given = (int(n) for n in re.findall(r"\d+", marks[0]))
            return "".join(
                f"[{n}]" for n in dict.fromkeys(numbers[n - 1] if 0 < n <= len(numbers) else n for n in given)
            )

        return _MARKS.sub(replaced, text)

    def citations(self) -> tuple[Citation, ...]:
        firsts = {n: self.facts[place] for place, n in reversed(self._numbers().items())}
        return tuple(_citation(n, firsts[n]) for n in sorted(firsts))

    def chain(self) -> tuple[ChainLink, ...]:
        """What was asked and found on the way, for the facts that are cited: each line once, and what builds on the
        finding of another after it."""
        grouped: dict[tuple[str, str], list[int]] = {}
        below = {source for sources in self.rests_on.values() for source in sources}
        for place in self.cited:
            if self.facts[place].value or self.rests_on.get(place) or place in below:
                grouped.setdefault(_finding(self.facts[place]), []).append(place)
        links = []
        for places in grouped.values():
            first = self.facts[places[0]]
            found = plain(with_unit(first.value, first.quote) or first.quote)
            findings = [_finding(self.facts[source]) for place in places for source in self.rests_on.get(place, ())]
            given = [place for finding in findings if finding in grouped for place in grouped[finding]]
            links.append(ChainLink(plain(first.need.question), found, self.of(places), self.of(given)))
        return tuple(_in_order(links))

    def with_unit(self, short: str) -> str:
        """A short answer that is a bare number, with the unit that the quote of a cited fact writes with it."""
        stating = (self.facts[place] for place in self.cited if self.facts[place].value == short)
        return with_unit(short, *(fact.quote for fact in stating))

    def _numbers(self) -> dict[int, int]:
        """The number of each cited fact by its position, in the order of the draft."""
        by_quote: dict[tuple[str, int, int], int] = {}
        numbers: dict[int, int] = {}
        for place in self.cited:
            fact = self.facts[place]
            quote = fact.document_id, fact.start, fact.end
            numbers[place] = by_quote.setdefault(quote, len(by_quote) + 1)
        return numbers


def _finding(fact: Fact) -> tuple[str, str]:
    """The same for facts that give one value to one need."""
    return fact.need.key, folded(fact.value or fact.quote)


def _in_order(links: Sequence[ChainLink]) -> list[ChainLink]:
    """The links in their order, but none before another that it builds on."""
    left, ordered = list(links), []
    while left:
        free = (
            link
            for link in left
            if not any(set(link.builds_on) & set(other.citations) for other in left if other is not link)
        )
        chosen = next(free, left[0])
        left.remove(chosen)
        ordered.append(chosen)
    return ordered


def _citation(n: int, fact: Fact) -> Citation:
    return Citation(
        n,
        fact.title,
        fact.source,
        fact.quote,
        fact.start,
        fact.end,
        fact.page,
        fact.retrieved,
        fact.url,
        fact.copies,
        display=plain(fact.quote),
    )
