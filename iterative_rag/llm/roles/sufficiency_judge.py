"""Sufficiency by an LLM: before answering, is everything there, and if not, what is the gap?"""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.replies.reflection_forms import SufficiencyReply
from iterative_rag.llm.roles.analyst import tried_already
from iterative_rag.llm.roles.role_call import RoleCall, numbered
from iterative_rag.types import Inquiry, Need, Sufficiency

# Looks at one need: the second is the wider one.
LOOKS = 2


@dataclass(frozen=True, slots=True)
class LLMSufficiencyJudge:
    """`room` is how many characters of facts a prompt may hold."""

    role_call: RoleCall[SufficiencyReply]
    room: int

    def judge(self, inquiry: Inquiry) -> Sufficiency:
        """Without any fact the question itself is the gap, which costs no call.

        Not enough, but no gap that is worth a look: `gap` is empty, and what is there has to be answered from.
        """
        if not inquiry.facts:
            return Sufficiency(False, open_gap(inquiry.question, inquiry), "No fact was found.")
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            original=inquiry.original,
            facts=numbered(inquiry.facts, self.room),
            question=inquiry.question,
            tried=tried_already(inquiry),
        )
        if reply.enough:
            return Sufficiency(True, reason=reply.reason)
        return Sufficiency(False, open_gap(reply.gap, inquiry), reply.reason)


def open_gap(question: str, inquiry: Inquiry) -> str:
    """The question in one line, "" where it was looked for twice already: a third look finds nothing new."""
    gap = " ".join(question.split())
    return gap if inquiry.looks(Need(gap)) < LOOKS else ""


def _complaint(reply: SufficiencyReply, inquiry: Inquiry) -> str:
    if reply.enough:
        return ""
    if not reply.gap:
        return '"enough" is false, but "gap" names no question'
    if inquiry.looks(Need(reply.gap)):
        return 'the "gap" was tried already; ask in other words or by another way, or set "enough" to true'
    return ""
