"""Where the values of a run went: from a fact into the needs and the question that name them, and so into the answer.

The run knows it by what it asked: a need that names a value which its question does not rests on the fact that gave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.engine.run_state import RunState
from iterative_rag.retrieval.need_words import names_in
from iterative_rag.text.markup import plain
from iterative_rag.text.need_wording import values_named
from iterative_rag.types import Draft, Need

# After every hop.
_END = 10**6


class ValueFlow:
    """Facts are given by their positions in `Inquiry.facts`. `rests_on` holds what was followed so far: for a fact the
    facts whose values its need names; it leads round in no circle."""

    def __init__(self, state: RunState) -> None:
        self._inquiry, self._hops = state.inquiry, state.hops
        facts = self._inquiry.facts
        found = [hop.n for hop in state.hops for _ in hop.facts]
        self._hop_of = [0] * (len(facts) - len(found)) + found  # 0 for what earlier questions have found
        # Of facts that give one value, the surest is meant; of those that are as sure, that of the first need.
        asked = {need: n for n, need in reversed([*enumerate(fact.need.key for fact in facts)])}
        order = sorted(range(len(facts)), key=lambda n: (-facts[n].score, asked[facts[n].need.key], n))
        self._given: list[tuple[str, tuple[int, ...]]] = [(plain(facts[n].value), (n,)) for n in order]
        self._given += [(one.result, one.facts) for one in self._inquiry.computed]
        # A quote that tells of the subject of its article ("counted as the 15th") names no value, but it gives one;
        # a name that its own need holds was known before.
        whole = Need(self._inquiry.original).key
        beside = [n for n in order if not facts[n].value and facts[n].need.key != whole]
        self._told: list[tuple[str, tuple[int, ...]]] = [
            (name, (n,))
            for n in beside
            for name in (facts[n].title.split(" (")[0], *names_in(plain(facts[n].statement)))
            if not values_named(facts[n].need.question, [name])
        ]
        self.rests_on: dict[int, tuple[int, ...]] = {}

    def with_chain(self, draft: Draft, *, from_question: bool) -> Draft:
        """The draft with all that it rests on cited; what its text does not cite comes last, in the order in which it
        was found. `from_question`: the answer was written to the question as it is now, with the values in it."""
        start = [*draft.cited, *(place for one in draft.computations for place in one.facts)]
        if draft.answered and from_question:
            start += self._named(self._inquiry.question, _END)
        behind: set[int] = set()
        while start:
            if (place := start.pop()) not in behind:
                behind.add(place)
                self._follow(place, ())
                start += self.rests_on[place]
        return replace(draft, cited=(*draft.cited, *sorted(behind - {*draft.cited})))

    def _follow(self, place: int, path: tuple[int, ...]) -> None:
        if place in self.rests_on:
            return
        path = (*path, place)
        need, hop = self._inquiry.facts[place].need, self._hop_of[place]
        sources = self._named(need.question, hop, but=need.key) or self._replaced(place) or self._told_of(place)
        self.rests_on[place] = tuple(source for source in sources if source not in path)
        for source in self.rests_on[place]:
            self._follow(source, path)

    def _named(self, question: str, hop: int, *, but: str = "") -> tuple[int, ...]:
        """The facts of earlier hops whose values a question names; where there are none, those of the same hop: what a
        model notes in one turn builds on one another."""
        facts, found = self._inquiry.facts, self._hop_of
        sources = (self._given, self._given, self._told, self._told)
        for told, hops in zip(sources, (range(hop), (hop,)) * 2, strict=True):
            given = [
                (value, places)
                for value, places in told
                if all(found[place] in hops and facts[place].need.key != but for place in places)
            ]
            if meant := values_named(question, [value for value, _ in given], self._inquiry.original):
                return tuple(dict.fromkeys(place for n in meant for place in given[n][1]))
        return ()

    def _replaced(self, place: int) -> Sequence[int]:
        """Of a need that names no value: the values that stood in the question of its hop, and in whose place the one
        that was found for it was put ("Ann Lee's mother" became "Eva Reed")."""
        fact, hop = self._inquiry.facts[place], self._hop_of[place]
        if not hop or not values_named(self._hops[hop - 1].rephrased, [fact.value], self._hops[hop - 1].question):
            return ()
        kept = self._named(self._hops[hop - 1].rephrased, hop)
        return [source for source in self._named(self._hops[hop - 1].question, hop) if source not in kept]

    def _told_of(self, place: int) -> Sequence[int]:
        """Of a fact that was noted beside the needs of its hop, for the question as a whole: what it tells of, which is
        the value that its article is named by, or else those that its statement names."""
        fact, hop = self._inquiry.facts[place], self._hop_of[place]
        if fact.value or fact.need.key != Need(self._inquiry.original).key:
            return ()
        return self._named(fact.title, hop, but=fact.need.key) or self._named(fact.statement, hop, but=fact.need.key)
