"""Follow-ups by an LLM: what one means, and its answer where the facts cited before hold it, in a single call."""

from __future__ import annotations

from iterative_rag.llm.prompts import lines
from iterative_rag.llm.replies.forms import AnswerReply, FollowUpReply
from iterative_rag.llm.roles.answerer import draft_of
from iterative_rag.llm.roles.calculations import Calculations
from iterative_rag.llm.roles.role_call import LLMRole, with_places
from iterative_rag.llm.roles.shown_facts import fact_lines
from iterative_rag.text.citation_markers import renumbered
from iterative_rag.types import Draft, Earlier, FollowUpReading, StandAlone, Unclear

# A follow-up becomes longer by the names that it lacks; one that grew beyond this has copied from an answer.
GROWTH, SPARE = 3.0, 300
# Below this confidence in an answer from known facts the question is looked up.
SURE = 0.6
# Characters of facts and their quotes, however long the conversation is.
FACT_CHARS = 6000


class LLMFollowUpReader(LLMRole[FollowUpReply]):
    """Implements protocols.FollowUpReader."""

    def understand(self, follow_up: str, earlier: Earlier) -> FollowUpReading:
        """Raises LLMError, CapReached."""
        reply = self.call.ask(
            lambda reply: _complaint(reply, follow_up, earlier),
            written=self.call.teller(len(earlier.facts)),
            earlier=lines(
                f"Q: {exchange.question} A: {exchange.short_answer or exchange.text or '(no answer)'}"
                for exchange in earlier.exchanges
            ),
            facts=fact_lines(earlier.facts, min(self.call.fact_chars, FACT_CHARS)),
            follow_up=follow_up,
            spoken=self.call.languages.for_answer(f"{earlier.exchanges[-1].question} {follow_up}"),
        )
        reply, question = with_places(reply, earlier.facts), " ".join(reply.question.split())
        if reply.status == "unclear" or not question:
            return Unclear(reply.unclear or "It is not clear what it asks")
        return StandAlone(question, _draft(reply, question, earlier), single=reply.single)


def _draft(reply: FollowUpReply, question: str, earlier: Earlier) -> Draft | None:
    """The answer from the earlier facts; None where it cites none of them, or is not sure."""
    if reply.status != "answered" or reply.confidence < SURE:
        return None
    draft = draft_of(AnswerReply.model_validate(dict(reply)), Calculations(earlier.facts, question))
    return draft if draft.cited and draft.short_answer else None


def _complaint(reply: FollowUpReply, follow_up: str, earlier: Earlier) -> str:
    """What is wrong with a reply, in words for the model."""
    if reply.status == "unclear":
        return ""
    if not reply.question:
        return 'the field "question" is empty'
    longest = max((len(exchange.question) for exchange in earlier.exchanges), default=0)
    if len(reply.question) > GROWTH * max(len(follow_up), longest) + SPARE:
        return 'the "question" became far too long; put in the bare names alone'
    if reply.status == "answered" and not renumbered(reply.answer, len(earlier.facts))[1]:
        return '"answer" cites no fact; put [n] after each claim, or set the status to "search"'
    return ""
