"""Scripts without spaces between words: where a word may begin and end in them."""

from __future__ import annotations

import re
import unicodedata

from iterative_rag.text.patterns import lazy_pattern

# Thai to Myanmar, Khmer, kana, and Han with its extensions: the inside of a character class.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# What may not stand beside a part that begins or ends in a numeral: 十二 is no part of 三百一十二.
_NUMERAL = r"\d零〇一二三四五六七八九两兩十百千万萬亿億"

_RUN = lazy_pattern(f"[{UNSPACED}]+")
_SPACE_BESIDE = lazy_pattern(rf"(?<=[{UNSPACED}])\s+|\s+(?=[{UNSPACED}])")
_AROUND = "".join(map(re.escape, " \t\n\"'.,;:()[]“”‘’«»。、，；：（）《》〈〉「」『』【】"))
_EDGES = lazy_pattern(f"^[{_AROUND}]+|[{_AROUND}]+$")


def is_unspaced(text: str) -> bool:
    """Whether a text holds letters of such a script."""
    return not text.isascii() and _RUN.search(text) is not None


def apart(text: str) -> str:
    """The text with a space around what is written without: "于1742年" has the word 1742."""
    return _RUN.sub(r" \g<0> ", text)


def stands_within(part: str, text: str) -> bool:
    """Whether a part in such a script stands in a text, letter for letter, and not as the end or the beginning of a
    longer number, of a longer word of another script, or of a letter with its marks."""
    part, text = _joined(part), _joined(text)
    if not part:
        return False
    before, after = _edge(part[0]), _edge(part[-1])
    pattern = rf"(?<!{before})(?<!{before}[.,]){re.escape(part)}(?!{after})(?![.,]{after})"
    following = (text[match.end() : match.end() + 1] for match in re.finditer(pattern, text))
    return any(not (letter and unicodedata.category(letter).startswith("M")) for letter in following)


def _joined(text: str) -> str:
    return _SPACE_BESIDE.sub("", _EDGES.sub("", unicodedata.normalize("NFKC", text).casefold()))


def _edge(letter: str) -> str:
    """What may not stand beside a letter at the edge of a part."""
    if re.match(f"[{_NUMERAL}]", letter):
        return f"[{_NUMERAL}]"
    return r"[^\s\S]" if is_unspaced(letter) else rf"[^\W{UNSPACED}]"
