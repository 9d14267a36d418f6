"""What of an extract its quote bears out: even a model that obeys a document cannot state more than that says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from iterative_rag.text.comparing import same_name, shared_beginning, stands_in
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import codes, is_function_word, language
from iterative_rag.text.mentions import mentions, single, whole_words
from iterative_rag.text.other_names import asks_nation
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.spoken_language import ENGLISH, language_of_text
from iterative_rag.text.unspaced import apart, is_unspaced, stands_within
from iterative_rag.text.value_members import compared, holds_name, members, with_implied
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.types import Extract, Need, Window
from iterative_rag.verification.answer_type import asks_yes_or_no, yes_or_no
from iterative_rag.verification.text_reading import is_subject

_TURKISH = str.maketrans("İı", "ii")
_PARTICLES = frozenset({"van", "von", "de", "der", "da", "di", "du", "la", "le", "of", "the", "and"})
_WORD = lazy_pattern(r"\w+")
_NAME = lazy_pattern(r"(?<=\s)[^\W\d_a-z]\w+")  # not the sentence's first word
_BEFORE_NAME = lazy_pattern(r"\b(\w+) (?=[^\W\d_a-z])")
_WITH_DIGIT = lazy_pattern(r"\w*\d\w*")
_REMARK = lazy_pattern(r"\s*\([^()]*\)$")
_YES_AND_MORE = lazy_pattern(r"\s*(?P<word>\w+)\s*[,;:(–—-]\s*(?P<rest>.+)", re.DOTALL)


def borne_out(extract: Extract, need: Need, seen: Window, beside: Sequence[str] = ()) -> Extract:
    """The extract without a value that its quote does not support, with those `beside` it, or its title, which names
    the subject that the quote is about and nothing else; and with its quote in place of a statement that names
    something that neither the window nor the need does.

    Numbers and dates are compared by their values: "98-minute" supports "98 minutes", "fifty-second" supports "52nd".
    Words may have other endings in the quote, where its language inflects: "am Kahlen Horn" supports "Kahles Horn".
    """
    nationality = asks_nation(need.question)
    about = is_subject(extract.value, seen.title, extract.quote, language(seen.text))
    shown = _Shown((extract.quote, *beside, *([seen.title] if about else ())), seen, nationality=nationality)
    value = _supported(extract.value, shown, need, seen)
    wide = _Shown((extract.quote, seen.title, seen.text, need.question), seen, nationality=nationality)
    statement = extract.statement if _names_only(extract.statement, wide) else extract.quote
    return replace(extract, value=value, statement=statement)


class _Shown:
    """Texts that a model was shown, the quote first; their numbers and dates are read on first use. `code` is the
    language of the window: a short quote full of names may not tell its own, or seem to be in another."""

    def __init__(self, texts: Sequence[str], seen: Window, *, nationality: bool) -> None:
        self.texts, self.seen, self.code, self.nationality = texts, seen, language(seen.text), nationality
        forms = (form for text in texts for form in (text, self.in_common_names(text)))
        self.words = frozenset(word for form in forms for word in _words(form))

    def in_common_names(self, text: str) -> str:
        return compared(text, nationality=self.nationality)

    @cached_property
    def values(self) -> list[Mention]:
        return [value for text in self.texts for value in self._read(text)]

    @cached_property
    def inflecting(self) -> str:
        """The language of the window by which words are stemmed; "" for English and where it is not clear."""
        code = self.code or language_of_text(self.seen.text)
        return "" if code == ENGLISH else code

    def contain(self, value: Mention, text: str) -> bool:
        """Whether a value in `text` was shown, in the same words or in others."""
        start, end = whole_words(text, value.start, value.end)
        same = " ".join(_WORD.findall(_plain(text[start:end]).casefold()))
        if any(f" {same} " in f" {' '.join(_WORD.findall(_plain(said).casefold()))} " for said in self.texts):
            return True
        return any(stands_in(value, shown) for shown in self.values)

    def hold(self, value: str) -> bool:
        """Whether a value without numbers stands in one of the texts, whatever the endings of its words."""
        if is_unspaced(value):
            return any(stands_within(value, text) for text in self.texts)
        return bool(self.inflecting) and any(stands_inflected(value, text, self.inflecting) for text in self.texts)

    def lack(self, words: Collection[str], describing: Collection[str] = ()) -> set[str]:
        """Those of these words, as they are spelt, that no text has in any form; `describing` stand before a name."""
        unsaid = {word for word in words if not (_words(word) <= self.words or (is_unspaced(word) and self.hold(word)))}
        if not unsaid:
            return unsaid
        if not self.inflecting:
            return {word for word in unsaid if not any(same_name(word.casefold(), said) for said in self.words)}
        said = {word for text in self.texts for word in _WORD.findall(_plain(text))}
        return {word for word in unsaid if not has_form(word, said, self.inflecting, describing=word in describing)}

    def _read(self, text: str) -> list[Mention]:
        plain = apart(text)
        codes = {language(text) or self.code, self.code}
        return [value for code in codes for value in with_implied(single(mentions(plain, code)), plain)]


def _supported(value: str, shown: _Shown, need: Need, seen: Window) -> str:
    """The value as far as it is supported: "22 (Mo vs Bo)" answers as "22" does, and "yes, Oregon" as "yes" does,
    whatever is known of Oregon."""
    for said in (value, _REMARK.sub("", value)):
        if _is_supported(said, shown, need, seen):
            return said
    parts = _YES_AND_MORE.match(value)
    if parts is None or not _is_yes_or_no(parts["word"], need):
        return ""
    return value if _is_supported(parts["rest"], shown, need, seen) else parts["word"]


def _is_supported(value: str, shown: _Shown, need: Need, seen: Window) -> bool:
    """Whether the quote has all of a value, or each of its members."""
    if _is_said(value, shown, need, seen):
        return True
    listed = members(value)
    return len(listed) > 1 and all(_is_said(member, shown, need, seen) for member in listed)


def _is_said(value: str, shown: _Shown, need: Need, seen: Window) -> bool:
    plain = apart(value)
    values, rest = _separated(plain, shown.code)
    if is_unspaced(value):
        said = shown.hold(value)
    else:  # a day, a month and a year that stand apart are no date
        forms = (_words(value), _words(shown.in_common_names(value)) - {"the"})
        said = not values and any(form <= shown.words for form in forms)
    if said or _is_yes_or_no(value, need):
        return True
    if values:
        code = shown.code or "en"
        held = {word.removesuffix("s") for word in shown.words}  # "three-time" bears out "3 times"
        unsaid = {word for word in _WORD.findall(rest) if not {part.removesuffix("s") for part in _words(word)} <= held}
        beside = {word for word in unsaid if not is_function_word(folded(word), code)}
        return not shown.lack(beside) and all(shown.contain(mention, plain) for mention in values)
    return _is_named(shown.in_common_names(value), shown, seen) or shown.hold(value)


def _is_named(value: str, shown: _Shown, seen: Window) -> bool:
    """Whether a name of several words stands in the quote, or in the window and its last word in the quote: the quote
    says "Meyer", the window "Eugene Meyer"."""
    words = value.split()
    if len(words) < 2 or not all(word[0].isupper() or word in _PARTICLES for word in words):
        return False
    name = [{word} for word in folded_words(value)]
    if any(holds_name(folded_words(text), name) for text in shown.texts):
        return True
    return _words(words[-1]) <= shown.words and holds_name(folded_words(seen.text), name, between=0)


def _is_yes_or_no(value: str, need: Need) -> bool:
    return yes_or_no(value) == value.strip(" .!") != "" and asks_yes_or_no(need.question)


def _names_only(statement: str, shown: _Shown) -> bool:
    """Whether the names and numbers of a statement were all shown."""
    plain = _plain(shown.in_common_names(statement))
    values, rest = _separated(plain, language(statement))
    names = {word for word in _NAME.findall(rest) if not (word[0].islower() or is_unspaced(word))}
    unsaid = shown.lack({*names, *_WITH_DIGIT.findall(rest)}, _BEFORE_NAME.findall(rest))
    return not unsaid and all(shown.contain(value, plain) for value in values if not _is_article(value))


def _is_article(value: Mention) -> bool:
    """Whether a value is the "one" of "one of the works", which counts nothing."""
    reading = value.readings[0]
    return value.worded and isinstance(reading, Quantity) and reading.value == 1 and not reading.unit


def _separated(text: str, code: str) -> tuple[list[Mention], str]:
    """The values of a text, and the text without them."""
    values = list(single(mentions(text, code)))
    rest = text
    for start, end in (whole_words(text, value.start, value.end) for value in values):  # "3D" for the 3
        rest = rest[:start] + " " * (end - start) + rest[end:]
    return values, rest


def _plain(text: str) -> str:
    return apart(unicodedata.normalize("NFKC", text))


def _words(text: str) -> set[str]:
    # The lower case of a Turkish İ is an i with a dot above it, which would be no letter of its word.
    return set(_WORD.findall(_plain(text).translate(_TURKISH).casefold()))


# --- inflected words: a common one may have any ending; a name only those that names take, for a Berger is no Bergen

# Shorter words have nothing left without their endings, and longer endings make another word.
SHORTEST, LONGEST_ENDING = 4, 3
# Languages whose adjectives decline within a name ("Kahles Horn", "am Kahlen Horn"), and those that add endings of all
# kinds to a name.
_ADJECTIVES = {"de": frozenset({"", "e", "em", "en", "er", "es", "m", "n", "r", "s"})}
_ADDING = frozenset({"az", "eu", "fi", "hu", "kk", "tr"})


def stands_inflected(value: str, text: str, code: str) -> bool:
    """Whether the words of a value stand in a text of the language `code` one after the other, up to their endings."""
    wanted, said = (_WORD.findall(unicodedata.normalize("NFC", words)) for words in (value, text))
    while len(wanted) > 1 and code in codes() and is_function_word(folded(wanted[0]), code):
        wanted = wanted[1:]  # an article declines, too, into another word
    last = len(wanted) - 1
    return bool(wanted) and any(
        all(_matches(word, said[start + n], code, last=n == last) for n, word in enumerate(wanted))
        for start in range(len(said) - last)
    )


def has_form(word: str, said: Iterable[str], code: str, *, describing: bool) -> bool:
    """Whether one of these words is a form of another one, which may have lost an ending or got one; `describing`: it
    stands before a name, so it may be an adjective."""
    last = not describing
    return any(_matches(word, other, code, last=last) or _matches(other, word, code, last=last) for other in said)


def _matches(word: str, said: str, code: str, *, last: bool) -> bool:
    """Whether a word of a value is said with another ending; the last word of a name is no adjective."""
    plain, other = folded(word), folded(said)
    if plain == other:
        return True
    shared = shared_beginning(plain, other)
    if shared < SHORTEST or any(letter.isdigit() for letter in plain + other):
        return False
    left, added = plain[shared:], other[shared:]
    if word[0].islower():
        return max(len(left), len(added)) <= LONGEST_ENDING
    declined = not last and _ADJECTIVES.get(code, frozenset()).issuperset((left, added))
    return declined or (code in _ADDING and not left) or (not left and same_name(plain, other))
