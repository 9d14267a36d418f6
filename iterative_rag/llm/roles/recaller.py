"""Closed-book answering: the model alone, without a corpus. Only evaluations use it."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.replies.forms import RecallReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.types import Draft


@dataclass(frozen=True, slots=True)
class LLMRecaller:
    role_call: RoleCall[RecallReply]

    def recall(self, question: str) -> Draft:
        reply = self.role_call.ask(_complaint, question=question)
        if reply.status != "answered" or not reply.short_answer:
            return Draft(answered=False, text="", missing="The model does not know it.", confidence=reply.confidence)
        return Draft(True, reply.short_answer, reply.short_answer, confidence=reply.confidence)


def _complaint(reply: RecallReply) -> str:
    empty = reply.status == "answered" and not reply.short_answer
    return 'the status is "answered", but "short_answer" is empty' if empty else ""
