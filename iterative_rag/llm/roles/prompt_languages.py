"""What the prompts say of languages: that of the answer, and those of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iterative_rag.settings.choices import AUTO
from iterative_rag.text.languages import language_names
from iterative_rag.text.spoken_language import ENGLISH, language_of_text
from iterative_rag.types import Inquiry

_FIELDS = '"answer", "short_answer", "also", "caveats" and "missing"'
# Names are checked against the quotes, so they must not be translated.
_RULE = "Copy names and titles from the facts as they are written there; keep the field names and the markers [n]."
# Of so many documents one has to be in a language for it to be named, and of so many languages the most frequent are.
ONE_OF, MOST = 10, 2


@dataclass(frozen=True, slots=True)
class PromptLanguages:
    """`question` and `answer` are the settings `language` and `answer_language`; `corpus` are numbers of documents by
    the code of their language."""

    question: str = AUTO
    answer: str = AUTO
    corpus: Mapping[str, int] = field(default_factory=dict)

    def for_answer(self, question: str) -> str:
        """What a prompt says about the language of the answer; "" where it is English like the prompt and question."""
        asked_in = self._language_of(question)
        wanted = asked_in if self.answer == AUTO else self.answer
        if wanted == asked_in == ENGLISH:
            return ""
        named = language_names()[wanted] if wanted else "the language of the original question"
        return f"Write {_FIELDS} in {named}. {_RULE}"

    def for_needs(self, inquiry: Inquiry) -> str:
        """What a prompt that asks for look-ups says; "" where they are best in the language of the question.

        Where a corpus holds the question's language among others, look-ups in that one come first: nothing is said
        until one of them has found nothing, since every further language makes a look-up longer and less sharp.
        """
        served = {fact.need.key for fact in inquiry.facts}
        in_vain = any(need.key not in served for need in inquiry.tried)
        twice = 'Write each look-up in {asked} and, behind " / ", once more in {others}'
        return self._told(inquiry.original, f"{twice}: articles are found by their words.", in_vain=in_vain)

    def for_searches(self, question: str) -> str:
        """What a prompt that asks for other searches says, after one that found too little; "" where the corpus is in
        the language of the question."""
        wanted = "Write the searches and the passage in {others}, whatever the rules say."
        return self._told(question, wanted, in_vain=True)

    def _told(self, question: str, wanted: str, *, in_vain: bool) -> str:
        if not self.corpus:
            return ""
        asked = self._language_of(question)
        names, least = language_names(), sum(self.corpus.values()) / ONE_OF
        frequent = sorted(self.corpus, key=lambda code: (-self.corpus[code], code))
        codes = [code for code in frequent if code not in ("", asked) and self.corpus[code] >= least][:MOST]
        if not asked or not codes or (self.corpus.get(asked, 0) >= least and not in_vain):
            return ""
        told = names.get(asked, asked), " and in ".join(names.get(code, code) for code in codes)
        beginning = "\n\nLANGUAGES: The question is in {asked}, articles are in {others}. "
        return f"{beginning}{wanted}".format(asked=told[0], others=told[1])

    def _language_of(self, question: str) -> str:
        return language_of_text(question) if self.question == AUTO else self.question
