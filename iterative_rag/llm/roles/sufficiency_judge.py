"""Sufficiency by an LLM: do the facts answer the question, and if not, what is missing?"""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.replies.forms import SufficiencyReply
from iterative_rag.llm.roles.analyst import tried_needs
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines
from iterative_rag.types import Inquiry, Need, Sufficiency

# Searches for one need: the second is wider.
SEARCHES_PER_NEED = 2


@dataclass(frozen=True, slots=True)
class LLMSufficiencyJudge:
    """`fact_chars`: how many characters of facts a prompt may hold. `always`: the model is asked even where every need
    has a value, for models that say too early that all is known."""

    role_call: RoleCall[SufficiencyReply]
    fact_chars: int
    always: bool = False

    def judge(self, inquiry: Inquiry) -> Sufficiency:
        """Without any fact the question itself is the gap; where every need has a value, there is none. Neither costs a
        call: the analyst, who sees the same facts, has just found nothing else to ask for.

        `gap` is empty where the facts do not suffice but no further search is worth it: they have to do.
        """
        if not inquiry.facts:
            return Sufficiency(False, open_gap(inquiry.question, inquiry), "No fact was found.")
        if _all_valued(inquiry) and not self.always:
            return Sufficiency(True, reason="Every need that was looked up has a value.")
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            original=inquiry.original,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            question=inquiry.question,
            tried=tried_needs(inquiry),
        )
        if reply.enough:
            return Sufficiency(True, reason=reply.reason)
        return Sufficiency(False, open_gap(reply.gap, inquiry), reply.reason)


def open_gap(question: str, inquiry: Inquiry) -> str:
    """The question in one line, "" where it was searched for twice already: a third search finds nothing new."""
    gap = " ".join(question.split())
    return gap if inquiry.looks(Need(gap)) < SEARCHES_PER_NEED else ""


def _all_valued(inquiry: Inquiry) -> bool:
    """Whether every need that was looked up has a value."""
    valued = {fact.need.key for fact in inquiry.facts if fact.value}
    return valued.issuperset(need.key for need in inquiry.tried)


def _complaint(reply: SufficiencyReply, inquiry: Inquiry) -> str:
    if reply.enough:
        return ""
    if not reply.gap:
        return '"enough" is false, but "gap" names no question'
    if inquiry.looks(Need(reply.gap)):
        return 'the "gap" was tried already; ask in other words or by another way, or set "enough" to true'
    return ""
