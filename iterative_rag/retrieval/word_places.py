"""The places of an article that hold some words: as they are asked for, or near one another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from iterative_rag.retrieval.chunking import sentences
from iterative_rag.retrieval.need_words import holds_words, plain_words
from iterative_rag.retrieval.spans import Span
from iterative_rag.text.comparing import shared_beginning
from iterative_rag.text.languages import is_function_word, language

# Places of one article that are shown.
MOST_PLACES = 6
# Forms of one word begin alike, for so many letters, and end differently in so many at most: "marry" and "married".
ALIKE, ENDING = 4, 3


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """Sentences and table rows in document order, at most MOST_PLACES of `count`. `exact`: they hold the words one
    after the other; else near one another, in a sentence or two that follow one another."""

    exact: bool
    count: int
    spans: tuple[Span, ...]


def word_places(text: str, words: str) -> WordPlaces | None:
    """The places with the whole phrase, ignoring case, accents and typography; else with all its words near one another
    in any form. None where there is none."""
    asked = plain_words(words)
    if not asked:
        return None
    spans = sentences(text)
    held = [plain_words(text[start:end]) for start, end in spans]
    if exact := [span for span, said in zip(spans, held, strict=True) if holds_words(said, asked)]:
        return WordPlaces(True, len(exact), tuple(exact[:MOST_PLACES]))
    code = language(text[:2000])
    wanted = [word for word in asked.split() if not is_function_word(word, code)] or asked.split()
    missing = [{word for word in wanted if not any(_alike(word, form) for form in said.split())} for said in held]
    places = [span for span, lacks in zip(spans, missing, strict=True) if not lacks]
    if not places:
        pairs = pairwise(zip(spans, missing, strict=True))
        places = [(first[0], second[1]) for (first, lacks), (second, lacks_too) in pairs if not lacks & lacks_too]
    return WordPlaces(False, len(places), tuple(places[:MOST_PLACES])) if places else None


def _alike(word: str, other: str) -> bool:
    """Whether two words may be forms of one. Numbers are not: 1910 is not 1911."""
    if word == other:
        return True
    if word.isdigit() or other.isdigit():
        return False
    same = shared_beginning(word, other)
    return same >= ALIKE and max(len(word), len(other)) - same <= ENDING
