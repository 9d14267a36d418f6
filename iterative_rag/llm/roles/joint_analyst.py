"""Rephrasing and analysis by an LLM in one call: the question with what was found put in, and what is missing next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.llm.replies.forms import ContinuationReply
from iterative_rag.llm.roles import analyst, rephraser
from iterative_rag.llm.roles.corpus_languages import AS_ASKED, CorpusLanguages
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines, new_fact_marks
from iterative_rag.types import Continuation, Fact, Inquiry, Known


@dataclass(frozen=True, slots=True)
class LLMJointAnalyst:
    """`fact_chars`: how many characters of facts a prompt may hold."""

    role_call: RoleCall[ContinuationReply]
    fact_chars: int
    languages: CorpusLanguages = AS_ASKED

    def proceed(self, inquiry: Inquiry, found: Sequence[Fact]) -> Continuation:
        """Both halves, as far as the model wrote them. A question that is known needs no rewriting any more."""
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, inquiry),
            original=inquiry.original,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            new=new_fact_marks(inquiry.facts, len(found)),
            question=inquiry.question,
            tried=analyst.tried_needs(inquiry),
            languages=self.languages.for_needs(inquiry),
        )
        question = " ".join(reply.question.split()) or None
        if question and rephraser.complaint(question, inquiry):
            question = inquiry.question
        if reply.analysis is None:
            return Continuation(question)
        after = replace(inquiry, question=question or inquiry.question)
        analysis = analyst.analysis(reply.analysis, after)
        return Continuation(question or (inquiry.question if isinstance(analysis, Known) else None), analysis)


def _complaint(reply: ContinuationReply, inquiry: Inquiry) -> str:
    """What is wrong with the halves that are there; one that is missing is asked for by its own role."""
    wrong = rephraser.complaint(reply.question, inquiry) if reply.question else ""
    return wrong or (analyst.complaint(reply.analysis, inquiry) if reply.analysis else "")
