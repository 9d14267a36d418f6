"""Sentences whose subject went with a sentence that was taken out: "He" would stand for somebody else then.

What stays of a text is read without what was taken out. A sentence that begins with a pronoun is understood through
the one before it; if that one is gone and was about something new, the pronoun seems to speak of what was said earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded
from iterative_rag.verification.word_lists import words

# Where a pronoun is looked for: further on it mostly stands for a name of its own sentence.
OPENING = 10
_WORD = re.compile(r"[^\W_]+")


def lost_subjects(sentences: Sequence[str], kept: Sequence[bool], titles: Sequence[Sequence[str]]) -> Iterator[int]:
    """The places of sentences that stay (`kept`) and whose pronoun stands for what was taken out, in order.

    `titles` are those of the documents that each sentence cites: a pronoun after such a name stands for it."""
    told: set[str] = set()
    lost = False
    for place, (sentence, stays) in enumerate(zip(sentences, kept, strict=True)):
        if not begins_with_pronoun(sentence, titles[place]):
            names = _names(sentence)
            lost = not stays and bool(names - told)
            if stays:
                told = names
        elif stays and lost:
            yield place


def begins_with_pronoun(sentence: str, titles: Sequence[str] = ()) -> bool:
    """Whether the subject of a sentence is a pronoun, as far as its first words tell: no name but those of its phrases
    of time and place stands before the pronoun."""
    own = {word for title in titles for word in _WORD.findall(folded(title))}
    before, of_phrase = "", False
    for spelt in _WORD.findall(MARKER.sub("", sentence))[:OPENING]:
        word = folded(spelt)
        if word in _pronouns():
            return True
        named = spelt[0].isupper() and bool(before)
        of_phrase = named and (of_phrase or before in _openings() | _articles())
        if word in own or (named and not of_phrase) or not (before or word in _openings()):
            return False
        before = word
    return False


def _names(sentence: str) -> set[str]:
    found = _WORD.findall(MARKER.sub("", sentence))
    return {folded(word) for word in found if word[0].isupper()} - _openings() - _articles()


@cache
def _pronouns() -> frozenset[str]:
    return frozenset(words("subjects", "pronouns"))


@cache
def _openings() -> frozenset[str]:
    return frozenset(words("subjects", "before"))


@cache
def _articles() -> frozenset[str]:
    return frozenset(words("subjects", "articles"))
