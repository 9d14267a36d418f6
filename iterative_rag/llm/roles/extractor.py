"""Extraction by an LLM: what does a window say about a need, word for word?"""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.prompts import fence
from iterative_rag.llm.replies.forms import ExtractionReply
from iterative_rag.llm.replies.injection_guard import guarded
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.types import Extract, Need, Window

MOST_FACTS = 5


@dataclass(frozen=True, slots=True)
class LLMExtractor:
    """Caches nothing itself: the document reader caches extracts by `fingerprint`, window and need."""

    role_call: RoleCall[ExtractionReply]

    @property
    def fingerprint(self) -> str:
        return self.role_call.fingerprint

    def extract(self, need: Need, window: Window) -> tuple[Extract, ...]:
        """At most five extracts, the most useful first; quotes are not verified here. Raises LLMError, CapReached."""
        reply = self.role_call.ask(
            _complaint,
            document=fence(f"Title: {window.title}\n\n{window.text}"),
            need=" ".join(need.question.split()).rstrip(" ?."),
        )
        # Without a quote it is no fact, which the model has been told once.
        quoted = [fact for fact in reply.facts if fact.quote]
        if reply.facts and not quoted:
            raise ReplyUnreadable(
                f"The model {self.role_call.model.name} named facts without a quote (extract).",
                reply="",
                hint="Try a larger model.",
            )
        extracts = (Extract(fact.statement or fact.quote, fact.quote, fact.value) for fact in quoted[:MOST_FACTS])
        return tuple(guarded(extract, need, window) for extract in extracts)


def _complaint(reply: ExtractionReply) -> str:
    if any(not fact.quote for fact in reply.facts):
        return 'every fact needs a "quote" copied from the document; leave out facts without one'
    return ""
