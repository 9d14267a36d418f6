"""Answers that are texts, sentences, a table or a report: what is looked up for them, and how they are written.

Every sentence and cell is checked; what no fact proves is taken out, and the answer says how much. Where nothing is
left, the text is written once more with what was wrong with it; after that the facts are quoted instead. A report that
a limit or a fault interrupts keeps the sections that are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from iterative_rag.engine.drafting import Drafted, Drafting, abstention, optional
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.errors import CapReached, IterativeRAGError, LLMError
from iterative_rag.protocols import Outliner, Reflector, Writer
from iterative_rag.retrieval.need_words import holds_words, plain_words
from iterative_rag.text.asked_forms import as_aspect, asks_value
from iterative_rag.text.citation_markers import MARKER, renumbered
from iterative_rag.text.languages import content_words
from iterative_rag.text.markup import plain
from iterative_rag.types.correcting import Claim, Reflection
from iterative_rag.types.loop import Analysis, AnswerForm, Inquiry, Known, Needs, OutlineSection, Place, Stuck
from iterative_rag.types.outcomes import Draft
from iterative_rag.types.steps import Action, AnsweringStep, ReflectionStep, Step
from iterative_rag.verification.answer_type import Asked, kind_asked
from iterative_rag.verification.groundedness import Standing, check
from iterative_rag.verification.text_check import CheckedText, check_text

# How often a text of which the check leaves nothing is written.
ATTEMPTS = 2
# Sentences that it is then told about.
ADVISED = 6
NOTHING_PROVED = "No sentence that the model wrote is proved by a quoted fact; these are the facts that were found."
# Facts of one need, and of all, that are quoted in place of a text.
QUOTED_OF_A_NEED, QUOTED = 2, 8


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


@dataclass(frozen=True, slots=True)
class TextDrafting:
    """Writes the texts of one run. `reflector` judges claims beside the rules; None where the rules judge alone."""

    writer: Writer
    reflector: Reflector | None = None

    def draft(self, hop: int, inquiry: Inquiry, *, last_attempt: bool) -> Generator[Step, None, Drafted]:
        """Steps as they happen; returns the text that may be given. Raises LLMError, CapReached."""
        if inquiry.outline and not last_attempt:
            return (yield from self._report(hop, inquiry))
        advice = ""
        for _ in range(ATTEMPTS):
            draft = self.writer.write(inquiry, last_attempt=last_attempt, advice=advice)
            yield AnsweringStep(hop, draft, last_attempt)
            draft, refused = yield from self._judged(hop, inquiry, draft)
            if not draft.answered:
                return Drafted(draft)
            checked = yield from self._check(hop, inquiry, draft, refused)
            if checked.text:
                kept = Reflection(checked.kept)
                return Drafted(_with_text(draft, inquiry, checked.text, checked.left_out), kept)
            advice = "; ".join(f"{claim.text} ({claim.reason})" for claim in checked.claims[:ADVISED])
        return Drafted(replace(extract_of(inquiry), caveats=(NOTHING_PROVED,)))

    def _report(self, hop: int, inquiry: Inquiry) -> Generator[Step, None, Drafted]:
        """The sections one by one. A section on which nothing was found, or that could not be written, is named as
        missing; a limit or a fault ends the report with what is written by then."""
        met = {fact.need.key for fact in inquiry.facts}
        report = Draft(True, "", confidence=1.0, weighed=True, form=AnswerForm.REPORT)
        parts: list[str] = []
        claims: list[Claim] = []
        ended: IterativeRAGError | None = None
        denied: Draft | None = None
        for n, section in enumerate(inquiry.outline):
            without = replace(report, uncovered=(*report.uncovered, section.heading))
            if not any(need.key in met for need in section.needs):
                report = without
                continue
            write = partial(self.writer.write, inquiry, section=section, before="\n\n".join(parts))
            try:
                written = yield from optional(hop, "write", write)
                draft, refused = (yield from self._judged(hop, inquiry, written)) if written else (None, ())
            except (CapReached, LLMError) as error:
                if not parts:
                    raise
                ended, left = error, [section.heading for section in inquiry.outline[n:]]
                report = replace(report, uncovered=(*report.uncovered, *left))
                break
            if draft is None or not draft.answered:
                report = without
                if written and draft and draft.false_premise:
                    if written.answered and not parts:  # a reflection finds it, and so for every other section
                        return Drafted(draft)
                    denied = denied or draft
                    report = _with_caveats(report, MARKER.sub("", draft.missing).strip())
                continue
            told = frozenset(claim.text for claim in claims)
            checked = yield from self._check(hop, inquiry, draft, refused, told)
            left_out = report.left_out + checked.left_out
            if not checked.text:
                report = replace(without, left_out=left_out)
                continue
            claims += checked.kept
            parts.append(_headed(section, inquiry, checked.text))
            trust = min(report.confidence, draft.confidence)  # a report is as sure as its least sure section
            short = report.short_answer or draft.short_answer
            report = replace(_with_caveats(report, *draft.caveats), confidence=trust, short_answer=short)
            report = replace(report, left_out=left_out)
            yield AnsweringStep(hop, _with_text(report, inquiry, "\n\n".join(parts), left_out))
        if denied and not parts:
            return Drafted(denied)
        if not parts:
            missing = f"Nothing was found or written on: {'; '.join(report.uncovered)}."
            return Drafted(Draft(False, "", missing=missing, form=AnswerForm.REPORT, left_out=report.left_out))
        whole = _with_text(report, inquiry, "\n\n".join(parts), report.left_out)
        return Drafted(whole, Reflection(tuple(claims)), ended_by=ended)

    def _judged(self, hop: int, inquiry: Inquiry, draft: Draft) -> Generator[Step, None, tuple[Draft, Collection[str]]]:
        """The draft, and its claims of which the reflector finds no proof. Where the reflector finds that the question
        assumes something untrue, the draft is an abstention: a "why" has no answer then, however well it is cited."""
        reflector = self.reflector
        if reflector is None or not draft.answered:
            return draft, ()
        judged = yield from optional(hop, "reflect", lambda: reflector.reflect(inquiry, draft))
        if judged is None:
            return draft, ()
        if judged.false_premise:
            yield ReflectionStep(hop, judged, Action.ABSTAIN)
            return abstention(draft, judged), ()
        return draft, frozenset(claim.text for claim in judged.claims if not claim.grounded)

    def _check(
        self, hop: int, inquiry: Inquiry, draft: Draft, refused: Collection[str], told: Collection[str] = ()
    ) -> Generator[Step, None, CheckedText]:
        """The check of a draft, told as a reflection where it takes something out."""
        checked = check_text(inquiry, draft, refused, told)
        if checked.left_out:
            action = Action.LEAVE_OUT if checked.text else Action.REGENERATE
            yield ReflectionStep(hop, Reflection(checked.claims), action)
        return checked


def extract_of(inquiry: Inquiry) -> Draft:
    """The best facts of each need, quoted, in place of a text that could not be written."""
    of_need: Counter[str] = Counter()
    quoted: dict[Place, int] = {}
    for index in sorted(range(len(inquiry.facts)), key=lambda n: -inquiry.facts[n].score):
        fact = inquiry.facts[index]
        of_need[fact.need.key] += 1
        if of_need[fact.need.key] <= QUOTED_OF_A_NEED:
            quoted.setdefault(fact.place, index)
    cited = tuple(sorted(list(quoted.values())[:QUOTED]))
    quotes = [plain(inquiry.facts[index].quote) for index in cited]
    text = " ".join(f"“{quote}” [{n}]" for n, quote in enumerate(quotes, start=1))
    return Draft(True, text, quotes[0] if quotes else "", cited, form=AnswerForm.EXTRACT)


def _with_text(draft: Draft, inquiry: Inquiry, text: str, left_out: int) -> Draft:
    said, cited = renumbered(text, len(inquiry.facts))
    short = _value_in(said, inquiry, draft.short_answer, cited)
    return replace(draft, text=said, short_answer=short, cited=cited, left_out=left_out)


def _value_in(text: str, inquiry: Inquiry, given: str, cited: Sequence[int]) -> str:
    """The name, number or date that the question asks for beside the text, as the checked text says it: what the writer
    has `given`, else the value of a cited fact whose need asks for one, the need that is most like the question."""
    if not asks_value(inquiry.original):
        return ""
    asked, kind = content_words(inquiry.original), kind_asked(inquiry.original)
    facts = [inquiry.facts[index] for index in cited]
    telling = [
        fact for fact in facts if asks_value(fact.need.question) and kind in (Asked.ANY, kind_asked(fact.need.question))
    ]
    telling.sort(key=lambda fact: -len(asked & content_words(fact.need.question)))
    values = (" ".join(value.split()) for value in (given, *(fact.value for fact in telling)))
    said = plain_words(MARKER.sub("", text))
    return next((value for value in values if plain_words(value) and holds_words(said, plain_words(value))), "")


def _with_caveats(draft: Draft, *caveats: str) -> Draft:
    return replace(draft, caveats=tuple(dict.fromkeys((*draft.caveats, *caveats))))


def _headed(section: OutlineSection, inquiry: Inquiry, text: str) -> str:
    """The section below its heading; a heading that names what no fact does is left out."""
    checked = check(inquiry, Draft(True, section.heading, form=AnswerForm.REPORT))
    sound = all(verdict.standing is not Standing.FAILED for verdict in checked)
    return f"## {section.heading}\n\n{text}" if sound else text
