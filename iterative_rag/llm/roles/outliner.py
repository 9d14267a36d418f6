"""The outline of a report by an LLM: its sections, and what is looked up for each."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.replies.forms import OutlineReply
from iterative_rag.llm.roles.analyst import named_need
from iterative_rag.llm.roles.corpus_languages import AS_ASKED, CorpusLanguages
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines
from iterative_rag.text.asked_forms import as_aspect
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.markup import plain
from iterative_rag.types import Inquiry, Need, OutlineSection

MOST_SECTIONS = 6
MOST_QUESTIONS = 2
# Characters of a heading; a longer one is a sentence.
LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class LLMOutliner:
    """`fact_chars`: how many characters of facts a prompt may hold."""

    role_call: RoleCall[OutlineReply]
    fact_chars: int
    languages: CorpusLanguages = AS_ASKED

    def outline(self, inquiry: Inquiry) -> tuple[OutlineSection, ...]:
        """The sections, each with one or two needs that no section before it has."""
        reply = self.role_call.ask(
            _complaint,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            original=inquiry.original,
            most=str(MOST_SECTIONS),
            languages=self.languages.for_needs(inquiry),
            questions=str(MOST_SECTIONS * MOST_QUESTIONS),
        )
        seen: set[str] = set()
        sections = []
        for part in reply.sections[:MOST_SECTIONS]:
            needs = [need for need in map(named_need, part.questions) if need.key and need.key not in seen]
            needs = needs[:MOST_QUESTIONS]
            seen |= {need.key for need in needs}
            heading = " ".join(plain(MARKER.sub("", part.heading)).split()).rstrip(".:")
            if needs and heading:
                sections.append(OutlineSection(heading[:LONGEST_HEADING], tuple(map(as_aspect, needs))))
        return tuple(sections) or (OutlineSection("Overview", (as_aspect(Need(inquiry.question)),)),)


def _complaint(reply: OutlineReply) -> str:
    """What is wrong with a readable outline, in words for the model."""
    if not any(part.heading and part.questions for part in reply.sections):
        return '"sections" names no section with a "heading" and its "questions"'
    return ""
