"""Which sentences are understood only through the one before them."""

from __future__ import annotations

import re

from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import words_of

# Where a pronoun is looked for: further on it mostly stands for a name of its own sentence.
OPENING = 10
_WORD = re.compile(r"[^\W_]+")


def begins_with_pronoun(sentence: str) -> bool:
    """Whether a pronoun opens a sentence, perhaps after a phrase of time or place without a name."""
    before = ""
    for spelt in _WORD.findall(MARKER.sub("", sentence))[:OPENING]:
        word = folded(spelt)
        if word in words_of("pronouns"):
            return True
        if (before and spelt[0].isupper()) or not (before or word in words_of("before_pronouns")):
            return False
        before = word
    return False


def speaks_of_earlier(sentence: str) -> bool:
    """Whether the subject of a sentence was named before it: "She", "Their son", "The couple"."""
    first, second = [*(folded(word) for word in _WORD.findall(sentence)[:2]), "", ""][:2]
    group = first == "the" and second in words_of("groups")
    return group or first in words_of("possessives") or begins_with_pronoun(sentence)
