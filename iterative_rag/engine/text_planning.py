"""What is looked up for an answer that is a text: its aspects, or the outline of a report."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.drafts import optional
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.protocols import Outliner
from iterative_rag.text.asked_forms import as_aspect
from iterative_rag.types import Analysis, AnswerForm, Inquiry, Known, Needs, Stuck


class TextPlanning:
    """The plan of one run. A report is outlined once: where the outline fails, it is written as one text."""

    def __init__(self, drafting: Drafting, outliner: Outliner | None) -> None:
        self._drafting, self._outliner = drafting, outliner

    def outlined(self, state: RunState) -> Generator[Progress, None, tuple[RunState, Analysis | None]]:
        """The state with the outline of a report, where one is asked for, and its needs as the analysis."""
        outliner, inquiry = self._outliner, state.inquiry
        if inquiry.form is not AnswerForm.REPORT or inquiry.outline or outliner is None:
            return state, None
        self._outliner = None
        outline = yield from optional(state.next_hop, "outline", lambda: outliner.outline(inquiry))
        if not outline:
            return state, None
        state = state.as_form(AnswerForm.REPORT, outline)
        yield state
        return state, open_aspects(state.inquiry)

    def shaped(self, state: RunState, analysis: Analysis) -> Generator[Progress, None, tuple[RunState, Analysis]]:
        """The state with the form that the first analysis asks for; the needs of a text, also those that a later
        analysis names, are aspects of it, but those that ask for one value."""
        if state.inquiry.outline:
            return state, analysis
        planned: Analysis | None = None
        if not state.hops:
            said = None if isinstance(analysis, Stuck) else analysis.form
            state = state.as_form(self._drafting.form_of(state.inquiry.original, said))
            state, planned = yield from self.outlined(state)
        if planned is None and state.inquiry.form.is_text and isinstance(analysis, Needs):
            analysis = replace(analysis, needs=tuple(map(as_aspect, analysis.needs)))
        return state, planned or analysis


def open_aspects(inquiry: Inquiry) -> Analysis:
    """The needs of an outline on which nothing was found yet."""
    met = {fact.need.key for fact in inquiry.facts}
    needs = tuple(need for section in inquiry.outline for need in section.needs if need.key not in met)
    return Needs(needs, last=True, form=inquiry.form) if needs else Known(inquiry.form)
