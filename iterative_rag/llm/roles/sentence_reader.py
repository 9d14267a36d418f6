"""Reading by a small model: numbered sentences, of which it names the one that states the answer. Nothing is copied, so
nothing is miscopied: the quote is made from the number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from iterative_rag.llm.prompts import as_field, fence, lines
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.retrieval.windows import is_of_document
from iterative_rag.text.folding import folded
from iterative_rag.types import Need, Sentence

# Tokens of a reply: a number and a few words.
REPLY_TOKENS = 80


class LLMSentenceReader(LLMRole[SentenceReply]):
    """Implements protocols.SentenceReader."""

    def read(self, need: Need, sentences: Sequence[Sentence]) -> tuple[Sentence, str] | None:
        """As protocols.SentenceReader says. Raises LLMError, CapReached."""
        reply = self.call.ask(sentences=fence(numbered(sentences)), need=need.question)
        value = " ".join(reply.answer.split())
        if not value:
            return sentences[0], ""
        named = sentences[reply.sentence - 1 : reply.sentence] if reply.sentence > 0 else ()
        return next(((sentence, value) for sentence in (*named, *sentences) if holds(sentence.text, value)), None)


def holds(text: str, value: str) -> bool:
    """Whether a value stands in a text, in its own words."""
    return re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", folded(text)) is not None


def numbered(sentences: Sequence[Sentence]) -> str:
    """The sentences, numbered from 1, each on a line under the title of its document. What does not stand in that has
    no number."""
    shown: list[str] = []
    for title, group in groupby(enumerate(sentences, start=1), key=lambda item: item[1].title):
        shown.append(f"[{as_field(title)}]")
        shown += (f"{n}. {sentence.text}" if is_of_document(sentence.text) else sentence.text for n, sentence in group)
    return lines(shown)
