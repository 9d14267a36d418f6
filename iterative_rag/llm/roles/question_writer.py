"""Questions that a passage answers, written by an LLM when the passage is indexed."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.llm.prompts import fence
from iterative_rag.llm.replies.forms import QuestionsReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.types import Passage

LONGEST_QUESTION = 300


@dataclass(frozen=True, slots=True)
class LLMQuestionWriter:
    """Implements protocols.QuestionWriter. Replies are cached by passage, count, prompt version and model."""

    asker: RoleCall[QuestionsReply]

    def write(self, passage: Passage, count: int) -> tuple[str, ...]:
        """Raises LLMError, CapReached."""
        reply = self.asker.ask(count=str(count), passage=fence(passage.embedded_text, "passage"))
        lines = [" ".join(question.split())[:LONGEST_QUESTION].rstrip() for question in reply.questions]
        distinct = {line.casefold(): line for line in reversed(lines) if line}
        return tuple(reversed(distinct.values()))[:count]
