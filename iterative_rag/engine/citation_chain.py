"""What an answer rests on and how it is cited: where the values of a run went, the numbers of its citations, and the
chain of what was asked and found on the way to it.

A run knows where values went by what it asked: a need that names a value which its question does not rests on the fact
that gave it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.engine.run_state import RunState
from iterative_rag.retrieval.nearness import cited
from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.text.mentions import with_unit
from iterative_rag.text.need_wording import values_named
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import ChainLink, Citation, Draft, Fact, Place

_MARKS = lazy_pattern(r"(?:\[\d{1,4}\])+")
# After every hop.
_END = 10**6


class ValueFlow:
    """Facts are given by their positions in `Inquiry.facts`. `rests_on` holds what was followed so far: for a fact the
    facts whose values its need names; it leads round in no circle."""

    def __init__(self, state: RunState) -> None:
        self._inquiry, self._hops = state.inquiry, state.hops
        facts = self._inquiry.facts
        hops = [hop.n for hop in state.hops for _ in hop.facts]
        self._hop_of = [0] * (len(facts) - len(hops)) + hops  # 0 for what earlier questions have found
        # Of facts that give one value, the surest is meant; of those that are as sure, that of the first need.
        asked = {need: n for n, need in reversed([*enumerate(fact.need.key for fact in facts)])}
        order = sorted(range(len(facts)), key=lambda n: (-facts[n].score, asked[facts[n].need.key], n))
        self._given: list[tuple[str, tuple[int, ...]]] = [(plain(facts[n].value), (n,)) for n in order]
        self._given += [(computation.result, computation.facts) for computation in self._inquiry.computed]
        self.rests_on: dict[int, tuple[int, ...]] = {}

    def with_chain(self, draft: Draft, *, from_question: bool) -> Draft:
        """The draft with all that it rests on cited; what its text does not cite comes last, in the order in which it
        was found. `from_question`: the answer was written to the question as it is now, with the values in it."""
        start = [*draft.cited, *(index for computation in draft.computations for index in computation.facts)]
        if draft.answered and from_question:
            start += self._named(self._inquiry.question, _END)
        behind: set[int] = set()
        while start:
            if (index := start.pop()) not in behind:
                behind.add(index)
                self._follow(index, ())
                start += self.rests_on[index]
        return replace(draft, cited=(*draft.cited, *sorted(behind - {*draft.cited})))

    def _follow(self, index: int, path: tuple[int, ...]) -> None:
        if index in self.rests_on:
            return
        path = (*path, index)
        need, hop = self._inquiry.facts[index].need, self._hop_of[index]
        sources = self._named(need.question, hop, but=need.key) or self._replaced(index)
        self.rests_on[index] = tuple(source for source in sources if source not in path)
        for source in self.rests_on[index]:
            self._follow(source, path)

    def _named(self, question: str, hop: int, *, but: str = "") -> tuple[int, ...]:
        """The facts of earlier hops whose values a question names; where there are none, those of the same hop: what a
        model notes in one turn builds on one another."""
        facts, hop_of = self._inquiry.facts, self._hop_of
        for hops in (range(hop), (hop,)):
            given = [
                (value, places)
                for value, places in self._given
                if all(hop_of[index] in hops and facts[index].need.key != but for index in places)
            ]
            if meant := values_named(question, [value for value, _ in given], self._inquiry.original):
                return tuple(dict.fromkeys(index for n in meant for index in given[n][1]))
        return ()

    def _replaced(self, index: int) -> Sequence[int]:
        """Of a need that names no value: the values that stood in the question of its hop, and in whose place the one
        that was found for it was put ("Ann Lee's mother" became "Eva Reed")."""
        fact, hop = self._inquiry.facts[index], self._hop_of[index]
        if not hop or not values_named(self._hops[hop - 1].rephrased, [fact.value], self._hops[hop - 1].question):
            return ()
        kept = self._named(self._hops[hop - 1].rephrased, hop)
        return [source for source in self._named(self._hops[hop - 1].question, hop) if source not in kept]


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
        return tuple(dict.fromkeys(numbers[index] for index in places if index in numbers))

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
        firsts = {n: self.facts[index] for index, n in reversed(self._numbers().items())}
        return tuple(cited(n, firsts[n]) for n in sorted(firsts))

    def chain(self) -> tuple[ChainLink, ...]:
        """What was asked and found on the way, for the facts that are cited: each line once, and what builds on the
        finding of another after it."""
        grouped: dict[tuple[str, str], list[int]] = {}
        below = {source for sources in self.rests_on.values() for source in sources}
        for index in self.cited:
            if self.facts[index].value or self.rests_on.get(index) or index in below:
                grouped.setdefault(_finding(self.facts[index]), []).append(index)
        links = []
        for places in grouped.values():
            first = self.facts[places[0]]
            value = plain(with_unit(first.value, first.quote) or first.quote)
            findings = [_finding(self.facts[source]) for index in places for source in self.rests_on.get(index, ())]
            given = [index for finding in findings if finding in grouped for index in grouped[finding]]
            links.append(ChainLink(plain(first.need.question), value, self.of(places), self.of(given)))
        return tuple(_in_order(links))

    def with_unit(self, short: str) -> str:
        """A short answer that is a bare number, with the unit that the quote of a cited fact writes with it."""
        stating = (self.facts[index] for index in self.cited if self.facts[index].value == short)
        return with_unit(short, *(fact.quote for fact in stating))

    def _numbers(self) -> dict[int, int]:
        """The number of each cited fact by its position, in the order of the draft."""
        by_quote: dict[Place, int] = {}
        numbers: dict[int, int] = {}
        for index in self.cited:
            numbers[index] = by_quote.setdefault(self.facts[index].place, len(by_quote) + 1)
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
