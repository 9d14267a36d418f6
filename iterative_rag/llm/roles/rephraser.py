"""Rephrasing by an LLM: the question with what was found put into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.llm.replies.forms import RephrasingReply
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines, new_fact_marks
from iterative_rag.types import Fact, Inquiry

# A question should get simpler; one that grew beyond this has copied from a document.
GROWTH = 3.0
SPARE = 300


@dataclass(frozen=True, slots=True)
class LLMRephraser:
    """`fact_chars`: how many characters of facts a prompt may hold."""

    role_call: RoleCall[RephrasingReply]
    fact_chars: int

    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        """The new question, given all facts, also those of earlier hops; the current one where nothing was found or the
        model offers no usable one."""
        if not found:
            return inquiry.question
        reply = self.role_call.ask(
            lambda reply: complaint(reply.question, inquiry),
            original=inquiry.original,
            question=inquiry.question,
            facts=fact_lines((*inquiry.facts, *found), self.fact_chars),
            new=new_fact_marks((*inquiry.facts, *found), len(found)),
        )
        return inquiry.question if complaint(reply.question, inquiry) else " ".join(reply.question.split())


def complaint(question: str, inquiry: Inquiry) -> str:
    """What is wrong with a rephrased question, in words for the model."""
    if not question:
        return 'the field "question" is empty'
    if len(question) > GROWTH * max(len(inquiry.question), len(inquiry.original)) + SPARE:
        return "the question became far too long; put in the bare names and values alone"
    return ""
