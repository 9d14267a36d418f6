"""Drafts an answer and, if the strategy reflects, checks it before it is given (Self-RAG, Asai et al., 2024).

A draft with an unproved claim is written again, once. A proved draft that does not answer the question sends
the loop back to searching. A refusal in the form of an answer, or a false premise, becomes an abstention. Where the
model's reflection fails, the rules judge alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from iterative_rag.errors import IterativeRAGError, LLMError
from iterative_rag.protocols import Answerer, Reflector, Writer
from iterative_rag.settings.model import Length
from iterative_rag.text.asked_forms import sound_form
from iterative_rag.types.correcting import Claim, Reflection
from iterative_rag.types.loop import AnswerForm, Inquiry
from iterative_rag.types.outcomes import Draft
from iterative_rag.types.steps import Action, AnsweringStep, DegradedStep, ReflectionStep, Step
from iterative_rag.verification.rule_reflector import RuleReflector
from iterative_rag.verification.short_answers import says

T = TypeVar("T")
REGENERATIONS = 1
ADVICE = "Your last answer claimed what the facts do not prove. Leave it out or prove it:\n"
# A call that failed in all its attempts is made once more.
CALLS = 2


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft after reflection. `search`: another search might help, for `gap` if that is not empty.

    `reflection` is None where the strategy does not reflect, but for a text, whose sentences are always checked.
    `ended_by` is the limit or fault that a text breaks off at.
    """

    draft: Draft
    reflection: Reflection | None = None
    search: bool = False
    gap: str = ""
    ended_by: IterativeRAGError | None = None


@dataclass(frozen=True, slots=True)
class Drafting:
    """Writes the drafts of one run. `reflector` is None where drafts are not checked; if it only `guards`, its
    reflection counts, and is shown, only when it objects. `writer` writes the answers that are texts, of the
    given `length`; None where every answer is a value or an extract. `regenerations`: how often a draft is rewritten
    because a claim in it is not proved."""

    answerer: Answerer
    reflector: Reflector | None = None
    guards: bool = False
    writer: Writer | None = None
    length: Length = "short"
    regenerations: int = REGENERATIONS

    def form_of(self, question: str, said: AnswerForm | None = None) -> AnswerForm:
        """The form of the answer to a question, of which an analysis may have `said` something."""
        if self.writer is None:
            return AnswerForm.VALUE
        form = sound_form(said, question)
        if self.length == "report":
            return AnswerForm.REPORT
        return AnswerForm.EXPLANATION if self.length == "paragraph" and not form.is_text else form

    def draft(
        self, hop: int, inquiry: Inquiry, *, last_attempt: bool, may_search: bool = False, draft: Draft | None = None
    ) -> Generator[Step, None, Drafted]:
        """Steps as they happen; returns the draft that may be given.

        The `last_attempt` makes the best of the facts. Unless another search is possible (`may_search`), a draft that
        calls for one becomes an abstention that names the gap. `draft` is there already.
        """
        if self.writer is not None and inquiry.form.is_text:
            from iterative_rag.engine.texts import TextDrafting  # which builds on this module

            texts = TextDrafting(self.writer, None if self.guards else self.reflector)
            return (yield from texts.draft(hop, inquiry, last_attempt=last_attempt))
        draft = draft or self.answerer.answer(inquiry, last_attempt=last_attempt)
        yield AnsweringStep(hop, draft, last_attempt)
        left = self.regenerations
        while self.reflector is not None and draft.answered:
            reflect = partial(self.reflector.reflect, inquiry, draft)
            # The rules judge where the reflector's calls fail.
            reflection = (yield from optional(hop, "reflect", reflect)) or RuleReflector().reflect(inquiry, draft)
            if self.guards and reflection.grounded:
                return Drafted(draft)
            action = _action(reflection, draft, inquiry, regenerations=left, may_search=may_search)
            yield ReflectionStep(hop, reflection, action)
            if action is Action.ACCEPT:
                return Drafted(_proved(draft, reflection, inquiry), reflection)
            if action is not Action.REGENERATE:
                searching = action is Action.SEARCH
                return Drafted(abstention(draft, reflection), reflection, search=searching, gap=reflection.gap)
            unproved = (claim for claim in reflection.claims if not claim.grounded)
            advice = ADVICE + "\n".join(f"- {claim.text} ({claim.reason})" for claim in unproved)
            draft = self.answerer.answer(inquiry, last_attempt=last_attempt, advice=advice)
            yield AnsweringStep(hop, draft, last_attempt)
            left -= 1
        return Drafted(draft)


def _action(reflection: Reflection, draft: Draft, inquiry: Inquiry, *, regenerations: int, may_search: bool) -> Action:
    if reflection.refusal or reflection.false_premise:
        return Action.ABSTAIN
    if not reflection.grounded:
        if regenerations:
            return Action.REGENERATE
        return Action.ACCEPT if _proving(draft, reflection, inquiry) else Action.ABSTAIN
    if not reflection.useful:
        return Action.SEARCH if may_search else Action.ABSTAIN
    return Action.ACCEPT


def _proving(draft: Draft, reflection: Reflection, inquiry: Inquiry) -> list[Claim]:
    """The grounded claims that say the short answer, with the facts that prove them."""
    short = draft.short_answer
    grounded = [claim for claim in reflection.claims if claim.grounded and short]
    facts = [[inquiry.facts[index] for index in claim.facts if index < len(inquiry.facts)] for claim in grounded]
    told = zip(grounded, facts, strict=True)
    return [claim for claim, proof in told if says(claim.text, short, inquiry.original, proof)]


def _proved(draft: Draft, reflection: Reflection, inquiry: Inquiry) -> Draft:
    """The draft; if claims stayed unproved, only its short answer and the facts that prove it."""
    if reflection.grounded:
        return draft
    facts = tuple(dict.fromkeys(index for claim in _proving(draft, reflection, inquiry) for index in claim.facts))
    marks = "".join(f"[{n}]" for n in range(1, len(facts) + 1))
    return replace(draft, text=f"{draft.short_answer}. {marks}".strip(), cited=facts, also=(), caveats=())


def abstention(draft: Draft, reflection: Reflection) -> Draft:
    """The draft as an abstention, which names the false premise, the claims without proof or the gap."""
    unproved = "; ".join(claim.text for claim in reflection.claims if not claim.grounded)
    missing = (
        (reflection.false_premise and f"The question assumes something untrue: {reflection.false_premise}")
        or (unproved and f"No fact proves: {unproved}")
        or reflection.gap
        or draft.missing
        or "The facts found do not answer the question that was asked."
    )
    untrue = bool(reflection.false_premise)
    return replace(draft, answered=False, short_answer="", missing=missing, confidence=0.0, false_premise=untrue)


def optional(hop: int, role: str, call: Callable[[], T]) -> Generator[Step, None, T | None]:
    """What `call` returns; None, and a DegradedStep, where it failed in CALLS calls: the run goes on without it.

    Raises CapReached, and an LLMError that any other call would raise as well (no server, no such model).
    """
    for n in range(1, CALLS + 1):
        try:
            return call()
        except LLMError as error:
            if error.fatal:
                raise
            if n == CALLS:
                yield DegradedStep(hop, role, type(error).__name__, str(error))
    return None
