"""Find the ends of sentences, and not those of titles, initials, abbreviations and German ordinals; and which sentences
are understood only through the one before them.

The time is linear in the length of the text, even for a single line of 100 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of, words_of
from iterative_rag.text.patterns import lazy_pattern

# A stop with closing quotes and brackets; citation markers ("[1]") belong to the sentence before them. The match starts
# at the first of several stops and never backtracks, so that a line of a million dots does not take long.
_END = lazy_pattern(r"(?<![.!?…])[.!?…]++[\"'”’“)\]»*_]*+(?P<marks>(?:\s?\[\d{1,4}\])*+)(?=\s)|[。！？]++[”’」』]*+")
_NEXT_WORD = lazy_pattern(r"\s+([\"'“„‘(\[«¿¡*_]*)(\w*)")
_LAST_WORD = lazy_pattern(r"[\w.'’&-]+$")
_ARTICLE = lazy_pattern(r"\b(?:im|am|der|die|das|des|dem|den|zum|vom|beim)\s+$", re.IGNORECASE)
# No abbreviation is longer, with the article before it.
_REACH = 24


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; the end of a line ends one, too."""
    pieces: list[str] = []
    for line in text.splitlines():
        ends = pairwise([0, *sentence_ends(line, numbered=False), len(line)])
        pieces += [line[start:end].strip() for start, end in ends]
    return [sentence for sentence in pieces if sentence]


def sentence_ends(text: str, start: int = 0, end: int | None = None, *, numbered: bool = True) -> Iterator[int]:
    """The places in `text[start:end]`, a block of prose, at which one sentence ends and another follows.

    Where `numbered`, a number that opens a sentence counts the items of a list ("3. Third item"); otherwise it is a
    sentence ("1912. She was born in 1825.").
    """
    stop = len(text) if end is None else end
    for match in _END.finditer(text, start, stop):
        if match.end() < stop and _ends(text, start, match, numbered):
            yield match.end()
            start = match.end()
            while start < stop and text[start].isspace():
                start += 1


def _ends(text: str, start: int, match: re.Match[str], numbered: bool) -> bool:
    """Whether the stop at `match` ends the sentence that begins at `start`."""
    following = _NEXT_WORD.match(text, match.end())
    if following is None or match["marks"]:
        return True  # 。 needs no space
    word = following[2]
    if word[:1].islower() and not following[1]:
        return False
    if match[0][0] != ".":
        return True
    last = _LAST_WORD.search(text, max(start, match.start() - _REACH), match.start())
    if last is None:
        return True
    if last[0].isdigit():
        return not ((numbered and last.start() == start) or _is_ordinal(text, start, last, word))
    initial = len(word) == 1 and word.isalpha() and text.startswith(".", following.end())
    return not _is_abbreviation(last[0], "" if initial else word)


def _is_ordinal(text: str, start: int, number: re.Match[str], following: str) -> bool:
    """Whether a number with a full stop is a German ordinal: "am 3. März", "im 19. Jahrhundert"."""
    if len(number[0]) > 2:
        return False
    article = _ARTICLE.search(text, max(start, number.start() - _REACH), number.start())
    return article is not None or folded(following) in language_of("").months


def _is_abbreviation(last: str, following: str) -> bool:
    """Whether a word with a full stop is an abbreviation or an initial with which the sentence goes on."""
    word = folded(last)
    if word in words_of("titles"):
        return True
    if word in words_of("abbreviations_before_numbers") and following[:1].isdigit():
        return True
    letters = word.rsplit(".", 1)[-1].lstrip("-")
    if word in words_of("abbreviations") or (len(letters) == 1 and letters.isalpha()):
        return following.lower() not in words_of("sentence_starters")
    return False


# --- sentences that go on from others ------------------------------------------------------------

# Where a pronoun is looked for: further on it mostly stands for a name of its own sentence.
OPENING = 10
_WORD = lazy_pattern(r"[^\W_]+")


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
