"""What an LLM is told of the languages of a corpus, where the question is in another one.

Where a corpus holds the question's language among others, look-ups in that one come first: nothing is said until one of
them has found nothing, since every further language makes a look-up longer and its search less sharp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iterative_rag.settings.choices import AUTO
from iterative_rag.text.languages import language_names
from iterative_rag.types import Inquiry

# Of so many documents one has to be in a language for it to be named, and of so many languages the most frequent are.
ONE_OF, MOST = 10, 2


@dataclass(frozen=True, slots=True)
class CorpusLanguages:
    """`counts` are numbers of documents by the code of their language; `question` is the setting `language`."""

    counts: Mapping[str, int] = field(default_factory=dict)
    question: str = AUTO

    def for_needs(self, inquiry: Inquiry) -> str:
        """What a prompt that asks for look-ups says; "" where they are best in the language of the question."""
        found = {fact.need.key for fact in inquiry.facts}
        in_vain = any(need.key not in found for need in inquiry.tried)
        twice = 'Write each look-up in {asked} and, behind " / ", once more in {others}'
        return self._told(inquiry.original, f"{twice}: articles are found by their words.", in_vain=in_vain)

    def for_searches(self, question: str) -> str:
        """What a prompt that asks for other searches says, after one that found too little; "" where the corpus is in
        the language of the question."""
        wanted = "Write the searches and the passage in {others}, whatever the rules say."
        return self._told(question, wanted, in_vain=True)

    def _told(self, question: str, wanted: str, *, in_vain: bool) -> str:
        from iterative_rag.text.spoken_language import language_of_text

        if not self.counts:
            return ""
        asked = language_of_text(question) if self.question == AUTO else self.question
        names, least = language_names(), sum(self.counts.values()) / ONE_OF
        frequent = sorted(self.counts, key=lambda code: (-self.counts[code], code))
        codes = [code for code in frequent if code not in ("", asked) and self.counts[code] >= least][:MOST]
        if not asked or not codes or (self.counts.get(asked, 0) >= least and not in_vain):
            return ""
        told = names.get(asked, asked), " and in ".join(names.get(code, code) for code in codes)
        beginning = "\n\nLANGUAGES: The question is in {asked}, articles are in {others}. "
        return f"{beginning}{wanted}".format(asked=told[0], others=told[1])


AS_ASKED = CorpusLanguages()
