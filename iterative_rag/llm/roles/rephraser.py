"""Rephrasing by an LLM: the question with what was found put in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.llm.replies.forms import RephrasingReply
from iterative_rag.llm.roles.role_call import RoleCall, numbered
from iterative_rag.types import Fact, Inquiry

# A question gets simpler; one that grew beyond this took in a document.
GROWTH = 3.0
SPARE = 300


@dataclass(frozen=True, slots=True)
class LLMRephraser:
    """`room` is how many characters of facts a prompt may hold."""

    role_call: RoleCall[RephrasingReply]
    room: int

    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        """The new question, in the light of all facts, those of earlier hops too.

        The current one where nothing was found or the model offers no usable one.
        """
        if not found:
            return inquiry.question
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            original=inquiry.original,
            question=inquiry.question,
            facts=numbered((*inquiry.facts, *found), self.room, known=len(inquiry.facts)),
        )
        return inquiry.question if _complaint(reply, inquiry) else " ".join(reply.question.split())


def _complaint(reply: RephrasingReply, inquiry: Inquiry) -> str:
    if not reply.question:
        return 'the field "question" is empty'
    if len(reply.question) > GROWTH * max(len(inquiry.question), len(inquiry.original)) + SPARE:
        return "the question became far too long; put in the bare names and values alone"
    return ""
