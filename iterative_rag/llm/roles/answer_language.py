"""The language that an LLM is asked to write its answer in."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.settings.choices import AUTO
from iterative_rag.text.languages import language_names

_FIELDS = '"answer", "short_answer", "also", "caveats" and "missing"'
# Names are checked against the quotes, so they must not be translated.
_RULE = "Copy names and titles from the facts as they are written there; keep the field names and the markers [n]."


@dataclass(frozen=True, slots=True)
class AnswerLanguage:
    """`question` and `answer` are the settings `language` and `answer_language`."""

    question: str = AUTO
    answer: str = AUTO

    def instruction(self, question: str) -> str:
        """What a prompt says about the language of the answer; "" where it is English like the prompt and question."""
        from iterative_rag.text.spoken_language import ENGLISH, language_of_text

        asked_in = language_of_text(question) if self.question == AUTO else self.question
        wanted = asked_in if self.answer == AUTO else self.answer
        if wanted == asked_in == ENGLISH:
            return ""
        named = language_names()[wanted] if wanted else "the language of the original question"
        return f"Write {_FIELDS} in {named}. {_RULE}"


AS_ASKED = AnswerLanguage()
