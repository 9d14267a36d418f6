"""What BM25 takes for the terms of a text in each language: stemmers and stop words are those of Qdrant.

A language without a stemmer (Polish, Thai, ...) has its words as they are written. What is written without spaces comes
as overlapping pairs of characters, as the CJK analysers of full-text engines do: that needs no dictionary, and a query
is cut like the text.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from iterative_rag.text import languages
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.unspaced import UNSPACED

if TYPE_CHECKING:
    from qdrant_edge import Bm25

# The language of documents whose language is English or not clear. An index of an older version knows no other.
ENGLISH = ""
# Mean number of terms of a 500-character passage with its header, after stop words (measured on Wikipedia text).
MEAN_TERMS = 40.0

# ISO 639-1 code -> what Qdrant calls a language for which it has a stemmer or stop words.
_NAMES: Mapping[str, str] = {
    ENGLISH: "english",
    "ar": "arabic", "az": "azerbaijani", "bn": "bengali", "ca": "catalan", "da": "danish", "de": "german",
    "el": "greek", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "he": "hebrew",
    "hu": "hungarian", "id": "indonesian", "it": "italian", "ja": "japanese", "kk": "kazakh", "ne": "nepali",
    "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sl": "slovene", "sv": "swedish", "tg": "tajik", "tr": "turkish", "zh": "chinese",
}  # fmt: skip
# Languages for which it has a stemmer alone.
_STEMMERS = {"hy": "Armenian", "ta": "Tamil"}

_UNSPACED = lazy_pattern(f"[{UNSPACED}]+")
# Korean has spaces, and particles on its words, which pairs of syllables leave behind.
_UNSPACED_OR_HANGUL = lazy_pattern(f"[{UNSPACED}\uac00-\ud7af]+")
# Vowel points of Hebrew, and of Arabic with its elongation: seldom written, and never in a query.
_POINTS = lazy_pattern("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u0640]")
# Letters that are written in two ways, or whose lower case depends on the language.
_LETTERS = {
    "az": str.maketrans("İI", "iı"),
    "fa": str.maketrans("كيى", "کیی"),
    "ru": str.maketrans("ёЁ", "еЕ"),
    "tr": str.maketrans("İI", "iı"),
}
_WIDE = frozenset({"ja", "ko", "zh"})
_local = threading.local()


@dataclass(frozen=True, slots=True)
class Analyser:
    """The terms of one language. `plain` removes accents before it stems, so that a word is found without its accents;
    `accented` stems words as they are spelt ("fondée" like "fondé"), and knows stop words that have accents. They are
    one for English. Not promised to be thread-safe: `analyser` gives each thread its own."""

    code: str
    plain: Bm25
    accented: Bm25

    def prepared(self, text: str) -> str:
        """The text with its words apart and its letters written in one way."""
        if text.isascii():
            # Turkish, alone among them, has another lower case for an ASCII letter.
            return text.translate(_LETTERS[self.code]) if "I" in text and self.code in ("az", "tr") else text
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which no encoding holds
        if self.code == ENGLISH:
            return _UNSPACED.sub(_pairs, text)
        text = unicodedata.normalize("NFKC" if self.code in _WIDE else "NFC", text)
        text = _POINTS.sub("", text).translate(_LETTERS.get(self.code, {}))
        return (_UNSPACED_OR_HANGUL if self.code == "ko" else _UNSPACED).sub(_pairs, text)

    def drops(self, word: str) -> bool:
        """Whether a prepared word is a stop word: for Qdrant, or as one of our own function words of the language."""
        return folded(word) in _function_words(self.code) or not self.accented.embed_query(word).indices


def analyser(code: str) -> Analyser:
    """The analyser of a language by its code, or of English for ENGLISH; this thread's own."""
    held: dict[str, Analyser] = vars(_local)
    if code not in held:
        plain = _model(code, folding=True)
        held[code] = Analyser(code, plain, plain if code == ENGLISH else _model(code, folding=False))
    return held[code]


@cache
def _function_words(code: str) -> frozenset[str]:
    return languages.language_of(code).function_words if code in languages.codes() else frozenset()


def _model(code: str, *, folding: bool) -> Bm25:
    from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, SnowballLanguage, SnowballParams, StopwordsSet

    own: dict[str, Any]
    if code in _NAMES:
        own = {"language": _NAMES[code]}
    elif code in _STEMMERS:
        own = {"stemmer": SnowballParams(getattr(SnowballLanguage, _STEMMERS[code])), "stopwords": StopwordsSet()}
    else:
        own = {"stemmer": DisabledStemmer(), "stopwords": StopwordsSet()}
    return Bm25(Bm25Config(avg_len=MEAN_TERMS, ascii_folding=folding, **own))


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    pairs = [text[offset : offset + 2] for offset in range(len(text) - 1)] or [text]
    return f" {' '.join(pairs)} "
