"""Reflection on an answer: are its claims proved, does it answer what was asked, is it a refusal, what is missing.

The rules of `groundedness` come first: a name or a number that is in no fact stays unproved, whatever the model says.
The model judges what the rules leave open, and may reject what they accept. The questions (supported? useful?) are
those of Self-RAG (Asai et al., 2024), without its trained tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.llm.prompts import fence, lines
from iterative_rag.llm.replies.forms import JudgedClaim, ReflectionReply
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.llm.roles.shown_facts import fact_numbers
from iterative_rag.text.citation_markers import with_numbers
from iterative_rag.types import Claim, Draft, Inquiry, Need, Reflection
from iterative_rag.verification.answer_type import is_refusal
from iterative_rag.verification.groundedness import Checked, Standing, check

NO_CLAIMS = "(none)"
# Searches for one need: the second is wider.
SEARCHES_PER_NEED = 2


class LLMReflector(LLMRole[ReflectionReply]):
    """Implements protocols.Reflector."""

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """One call for an answered draft that is not an obvious refusal. Raises LLMError, CapReached."""
        checked = check(inquiry, draft)
        if is_refusal(inquiry, draft):
            return Reflection(tuple(item.claim for item in checked), useful=False, refusal=True)
        shown = fact_numbers(inquiry.facts)
        # The prompt numbers facts, where the markers of the answer number its citations.
        answer = with_numbers(draft.text, {n: (shown[index],) for n, index in enumerate(draft.cited, start=1)})
        reply = self.call.about(
            inquiry,
            lambda reply: _complaint(reply, checked, inquiry),
            answer=fence(answer, "answer"),
            short=draft.short_answer,
            claims=_listed(checked, shown),
        )
        judged = {claim.n: claim for claim in reply.claims}
        claims = tuple(_settled(item, judged.get(n), len(inquiry.facts)) for n, item in enumerate(checked, start=1))
        satisfied = reply.useful and not reply.refusal and all(claim.grounded for claim in claims)
        gap = " ".join(reply.gap.split())
        if satisfied or inquiry.looks(Need(gap)) >= SEARCHES_PER_NEED:  # a third search finds nothing new
            gap = ""
        return Reflection(claims, reply.useful and not reply.refusal, reply.refusal, reply.false_premise, gap)


def _settled(checked: Checked, judged: JudgedClaim | None, count: int) -> Claim:
    """The verdict of the rules on a claim, or the model's where they leave it open."""
    claim = checked.claim
    if checked.standing is Standing.FAILED or judged is None:
        return claim
    if judged.verdict == "not_grounded":
        return Claim(claim.text, False, (), judged.why or claim.reason or "the model finds no proof")
    if checked.standing is Standing.PROVED:
        return claim
    named = tuple(dict.fromkeys(n - 1 for n in judged.facts if 1 <= n <= count))
    # A claim without a fact that proves it is not proved, even if the model says so.
    return Claim(claim.text, True, named) if named else replace(claim, reason="the model names no fact that proves it")


def _complaint(reply: ReflectionReply, checked: Sequence[Checked], inquiry: Inquiry) -> str:
    judged = {claim.n for claim in reply.claims}
    open_claims = [n for n, item in enumerate(checked, start=1) if item.standing is Standing.OPEN]
    if missing := [n for n in open_claims if n not in judged]:
        return f'"claims" has no verdict on claim {", ".join(str(n) for n in missing)}'
    without_facts = (claim.n for claim in reply.claims if claim.verdict == "grounded" and not claim.facts)
    if unnamed := [n for n in without_facts if n in open_claims]:
        return f'claim {unnamed[0]} is "grounded", but "facts" names no fact that proves it'
    if not reply.useful and not reply.refusal and reply.gap and inquiry.looks(Need(reply.gap)):
        return 'the "gap" was tried already; ask for something else or leave it empty'
    return ""


def _listed(checked: Sequence[Checked], shown: Sequence[int]) -> str:
    listed = []
    for n, item in enumerate(checked, start=1):
        marks = "".join(f"[{shown[index]}]" for index in item.claim.facts)
        state = f"proved {marks}" if item.standing is Standing.PROVED else f"{item.standing.value}: {item.claim.reason}"
        listed.append(f"{n}. {item.claim.text} ({state})")
    return fence(lines(listed), "claims") if listed else NO_CLAIMS
