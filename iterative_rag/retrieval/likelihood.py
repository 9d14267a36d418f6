"""How likely texts answer a need, by the built-in reader: what an LLM is shown of a document, and which documents are
worth it.

Of 73 needs whose one deciding sentence stood somewhere in a long article, the passage that a search ranks first held it
28 times, the one that is likeliest 59 times; of windows of 4,000 characters around the best passages 66 and 73 did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.protocols import Corpus, Reranker
from iterative_rag.retrieval.reading_policy import is_tabular, mentions
from iterative_rag.text.languages import language
from iterative_rag.types import Need, ShortlistedDocument

# The least chance with which a document that a need does not name is worth a call, and with which a further window of
# one is. In the order of these chances 225 of 237 needs of MuSiQue had their value within 265 reads, by rules on names
# 204 of 229 within 242. Of further windows of long articles that had not answered yet, 31 of the 32 with the answer
# pass and 18 of the 40 without; by rules on words it were 8 and 17.
PROMISING, FURTHER = 0.01, 0.03


@dataclass(frozen=True, slots=True)
class Likelihood:
    """`ranker` tells how likely a text answers an English need; without it names alone decide."""

    corpus: Corpus
    ranker: Reranker | None = None

    def chances(self, need: Need, title: str, texts: Sequence[str]) -> list[float]:
        """How likely each text of a document answers a need. What the ranker does not understand may, if it holds a
        name of the need: a text in another language, and one of rows, of which it finds too unlikely 28 in 100 that
        answer."""
        chances = [FURTHER * mentions(need, title, text) for text in texts]
        known = [n for n, text in enumerate(texts) if is_english(need, text)] if self.ranker else []
        if self.ranker and known:
            ranked = self.ranker.relevance(need.question, [(title, texts[n]) for n in known])
            for n, chance in zip(known, ranked, strict=True):
                chances[n] = max(chance, chances[n]) if is_tabular(texts[n]) else chance
        return chances

    def weighed(self, need: Need, entry: ShortlistedDocument) -> tuple[ShortlistedDocument, float]:
        """The document with its likeliest hits first, and the chance of the best, 1 where it has none."""
        text = self.corpus.document(entry.document_id).text
        chances = self.chances(need, entry.title, [text[hit.start : hit.end] for hit in entry.hits])
        ranked = sorted(zip(chances, entry.hits, strict=True), key=lambda pair: -pair[0])
        return replace(entry, hits=tuple(hit for _, hit in ranked)), max(chances, default=1.0)

    def ranked(self, need: Need, documents: Sequence[ShortlistedDocument]) -> list[tuple[ShortlistedDocument, float]]:
        """The documents, likeliest first, each with its likeliest hits first, and their chances."""
        return sorted((self.weighed(need, entry) for entry in documents), key=lambda pair: -pair[1])


def is_english(need: Need, text: str) -> bool:
    """Whether neither a need nor a text is in another language, so that the ranker understands both."""
    return {language(need.question), language(text)} <= {"", "en"}
