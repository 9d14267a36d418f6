"""The loop: which fact is missing, find it, put it into the question, until the question is answerable.

A generator of typed steps; whoever wants to show, store or count what happens consumes the steps. No hop repeats
itself: a need that was tried is looked for once more, wider, and then given up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.optional_call import optional
from iterative_rag.engine.run_state import Record
from iterative_rag.engine.running import begun, search, to_its_end
from iterative_rag.protocols import Roles, SufficiencyJudge
from iterative_rag.settings import Settings
from iterative_rag.types import (
    AnalysisStep,
    Cap,
    Fact,
    Inquiry,
    Need,
    Needs,
    RephrasingStep,
    Step,
    SufficiencyStep,
)

# Hops in a row that may bring no new fact: the first is answered by a wider search, the second ends the loop.
BARREN_HOPS = 2


class StepEngine:
    """One engine serves one run: its roles and finder are bound to the run's budget."""

    def __init__(
        self,
        roles: Roles,
        finder: DataFinder,
        drafting: Drafting,
        budget: RunBudget,
        settings: Settings,
        *,
        judge: SufficiencyJudge | None = None,
    ) -> None:
        """`judge` is None where the facts are not looked at once more before answering."""
        self._roles, self._finder, self._drafting = roles, finder, drafting
        self._budget, self._settings, self._judge = budget, settings, judge

    def steps(self, question: str) -> Iterator[Step]:
        record = begun(question, self._budget)
        return to_its_end(record, self._hops, self._drafting, self._finder)

    def _hops(self, record: Record) -> Iterator[Step]:
        barren = 0
        gaps: tuple[Need, ...] = ()
        for hop in range(len(record.hops) + 1, self._settings.max_hops + 2):
            self._budget.check()
            record.begin_hop()
            inquiry = record.inquiry
            if gaps:
                needs, wider = gaps, False
            else:
                analysis = self._roles.analyst.analyse(inquiry)
                yield AnalysisStep(hop, inquiry.question, analysis)
                needs, wider = _untried(analysis.needs, inquiry) if isinstance(analysis, Needs) else ((), False)
            if not needs or barren >= BARREN_HOPS:
                # A gap is looked for only while the loop gets on.
                needs = () if barren >= BARREN_HOPS else (yield from self._insufficient(hop, inquiry))
                if not needs:
                    needs = yield from self._answered(record, hop)
                if not needs:
                    return
                wider = False
            if hop > self._settings.max_hops:
                raise self._budget.reached(Cap.HOPS)
            new = yield from self._find(record, hop, needs, wider)
            gaps = ()
            barren = 0 if new else barren + 1
            if _settles(new, inquiry.question):
                gaps = yield from self._answered(record, hop)
                if record.draft and record.draft.answered:
                    return

    def _insufficient(self, hop: int, inquiry: Inquiry) -> Generator[Step, None, tuple[Need, ...]]:
        """The gap that the judge names, if it was not looked for yet; none where the judge cannot be heard."""
        if self._judge is None or not inquiry.facts:
            return ()
        judge = self._judge
        judged = yield from optional(hop, "suffice", lambda: judge.judge(inquiry))
        if judged is None:
            return ()
        yield SufficiencyStep(hop, judged)
        return () if judged.enough else _new_gap(judged.gap, inquiry)

    def _answered(self, record: Record, hop: int) -> Generator[Step, None, tuple[Need, ...]]:
        """Drafts; returns what reflection wants looked up first, nothing where the draft is the answer."""
        inquiry = record.inquiry
        drafted = yield from self._drafting.draft(hop, inquiry)
        record.take(drafted)
        return _new_gap(drafted.gap, inquiry) if drafted.search else ()

    def _find(
        self, record: Record, hop: int, needs: Sequence[Need], wider: bool
    ) -> Generator[Step, None, tuple[Fact, ...]]:
        """One hop's search and rephrasing; returns the new facts."""
        inquiry = record.inquiry
        new = yield from search(record, self._finder, hop, needs, wider=wider)
        rephrased = inquiry.question
        if new and not _settles(new, inquiry.question):
            rephrase = self._roles.rephraser.rephrase
            rephrased = (yield from optional(hop, "rephrase", lambda: rephrase(inquiry, new))) or inquiry.question
        record.rephrase(rephrased)
        if rephrased != inquiry.question:
            yield RephrasingStep(hop, inquiry.question, rephrased)
        record.end_hop(rephrased)
        return new


def _untried(needs: Sequence[Need], inquiry: Inquiry) -> tuple[tuple[Need, ...], bool]:
    """The needs that are new; if none is, those that were tried just once, to be looked for wider."""
    unique = list({need.key: need for need in needs}.values())
    if new := tuple(need for need in unique if not inquiry.looks(need)):
        return new, False
    return tuple(need for need in unique if inquiry.looks(need) == 1), True


def _new_gap(gap: str, inquiry: Inquiry) -> tuple[Need, ...]:
    need = Need(" ".join(gap.split()))
    return (need,) if need.question and not inquiry.looks(need) else ()


def _settles(new: Sequence[Fact], question: str) -> bool:
    """Whether the question itself was looked up and a value found: nothing to rephrase, nothing to analyse again."""
    return any(fact.value and fact.need.key == Need(question).key for fact in new)
