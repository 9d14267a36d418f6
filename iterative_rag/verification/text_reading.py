"""A text as words, names and values: every text of a check is read once, here. And when two folded words are forms of
one or say the same relation ("designed", "the designer", "entworfen")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from iterative_rag.text.comparing import same_name, shared_beginning
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_comparing, is_function_word, is_negation, language_of, words_of
from iterative_rag.text.markup import without_struck
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.patterns import LETTERS, lazy_pattern, table_beside
from iterative_rag.text.values import Mention, Quantity

_tables = partial(table_beside, __file__, "words.toml")


@cache
def listed(table: str, name: str) -> tuple[str, ...]:
    """The words of one list; a "_" in the file is a blank."""
    return tuple(word.replace("_", " ") for word in _tables()[table][name].split())


def pattern(table: str, name: str) -> str:
    """A list of regular expressions, one a line, as one of alternatives."""
    return f"(?:{'|'.join(_tables()[table][name].strip().splitlines())})"


# --- a text ----------------------------------------------------------------------------------------

_SENTENCE_START = lazy_pattern(r"(?:^|(?:(?<!\b[A-Z])\.|[!?:…])\s+|[\n\"“„«¿¡(]\s*)$")
_POSSESSIVE = lazy_pattern(r"['’]\s?$")
_IN_BRACKETS = lazy_pattern(r"\s*\([^()]*\)\s*$")
# How far back a word looks for these two.
_REACH = 12
# What may stand between two words of one name, and after a sentence's first word that is one.
_WITHIN_NAME = lazy_pattern(r"[\s.'’-]{1,2}")
_BEFORE_NEXT = (" ", "-", "’", "'", ". ")
# Ranks in words up to this say no more than "first" and "second" do: they stay words.
_WORDED_RANK = 2
# Words of meaning that may stand before a sentence's subject and belong to it: "the American politician X".
_BEFORE_SUBJECT = 2
# How many words before a verb its "not" may stand, and what ends that: "no less than Bo Orm", but "no longer mayor".
NEAR = 3
_CLAUSE = lazy_pattern(r"[,;:.]|\b(?:and|but|or|until|only|than)\b")


@dataclass(frozen=True, slots=True)
class Word:
    """`low` is folded; `opens` says that it is the first of a sentence, where a capital tells nothing."""

    low: str
    start: int
    end: int
    capital: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class TextReading:
    """A text in the language `code` ("": unknown): its values, its words outside of them, which of these are names.

    A name is a run of words ("Oda Brenk"), `others` are in none. `lows` are the folded words, `name_words` those of
    names and those that may be a name: capitalised at the beginning of a sentence.
    """

    text: str
    code: str
    values: tuple[Mention, ...]
    words: tuple[Word, ...]
    names: tuple[tuple[Word, ...], ...]
    others: tuple[Word, ...]
    lows: frozenset[str]
    name_words: frozenset[str]

    @property
    def negated(self) -> bool:
        return any(is_negation(low, self.code) for low in self.lows)

    def denies(self, said: Set[str]) -> bool:
        """Whether it has one of these words only with a "not" among the few words before it, in the same clause."""
        denied = [self._is_denied(number) for number, word in enumerate(self.words) if word.low in said]
        return bool(denied) and all(denied)

    def _is_denied(self, number: int) -> bool:
        start, near = self.words[number].start, self.words[max(0, number - NEAR) : number]
        negations = (word for word in near if is_negation(word.low, self.code))
        return any(not _CLAUSE.search(self.text[word.end : start]) for word in negations)

    @property
    def compares(self) -> bool:
        return any(is_comparing(low, self.code) for low in self.lows)


@lru_cache(maxsize=4096)
def read_text(text: str, code: str) -> TextReading:
    """Reads a text. Its values are those that a fact must bear out, a range by its ends; not number words that say
    hardly more than an article does ("one of them", "the first"), nor capitalised ones: "Seven Sisters" is a name. What
    is struck from it, it does not say."""
    text = without_struck(text)
    values = tuple(value for value in single(mentions(text, code)) if not (value.worded and _is_word(value, text)))
    words = _words(text, values)
    names, others = _names(text, words, code, {value.end for value in values})
    named = [word.low for name in names for word in name]
    return TextReading(
        text,
        code,
        values,
        words,
        names,
        others,
        lows=frozenset(word.low for word in words),
        name_words=frozenset([*named, *(word.low for word in others if word.capital and word.opens)]),
    )


def read_title(title: str, code: str) -> TextReading:
    """A title without the bracket that tells documents of one name apart."""
    return read_text(_IN_BRACKETS.sub("", title), code)


def is_subject(value: str, title: str, quote: str, code: str) -> bool:
    """Whether what a quote leaves unsaid of a value is the name of its document's subject, of which it speaks."""
    said, about, quoted = read_text(value, code), read_title(title, code), read_text(quote, code)
    unsaid = [word.low for word in said.words if word.low not in quoted.lows]
    name = [{low for low in about.lows if same_name(low, word)} for word in unsaid]
    return (names_subject(about, name) or names_whole(about, said)) and not speaks_of_another(quoted, about, said.lows)


def names_subject(title: TextReading, name: Sequence[Set[str]]) -> bool:
    """Whether a title calls its subject by this name, given by the spellings of each word: a person by the first and
    the last word, or by the last alone. What stands anywhere else in a title is no name of its subject."""
    words = _meaning(title)
    positions = [n for n, low in enumerate(words) if any(low in forms for forms in name)]
    if not positions or any(forms.isdisjoint(title.lows) for forms in name):
        return False
    return is_plain_name(title) and positions[-1] == len(words) - 1 and (len(positions) == 1 or positions[0] == 0)


def is_plain_name(title: TextReading) -> bool:
    return len(title.names) == 1 and not title.values


def names_whole(title: TextReading, text: TextReading) -> bool:
    """Whether a text has all words and values of a title."""
    written = [text.text[value.start : value.end] for value in text.values]
    values = [title.text[value.start : value.end] for value in title.values]
    return text.lows.issuperset(_meaning(title)) and set(written).issuperset(values)


def speaks_of_another(quote: TextReading, title: TextReading, spoken_of: Set[str]) -> bool:
    """Whether a quote begins with a name that is neither in its document's title nor among the words `spoken_of`: what
    it says is of whom it names, and not of what the document is about."""
    name = quote.names[0] if quote.names else ()
    if not name or any(word.low in title.lows or word.low in spoken_of for word in name):
        return False
    before = [word for word in quote.words if word.end <= name[0].start]
    of_another = quote.text[name[-1].end :][:1] in ("'", "’")  # "James Buchanan's niece"
    if of_another or (before and before[-1].low in words_of("before_pronouns")):
        return False
    if any(word.low in words_of("pronouns") or word.low in title.lows for word in before):
        return False
    light = [is_function_word(word.low, quote.code) for word in before]
    described = light.index(False) if False in light else len(light)
    return len(light) - described <= _BEFORE_SUBJECT and not any(light[described:])


def _meaning(title: TextReading) -> list[str]:
    return [word.low for word in title.words if word.capital or not is_function_word(word.low, title.code)]


def _is_word(mention: Mention, text: str) -> bool:
    if text[mention.start].isupper() and mention.start:
        return True
    value = mention.readings[0]
    if not isinstance(value, Quantity) or value.unit:
        return False
    return value.value <= _WORDED_RANK if value.ordinal else value.value == 1


def _words(text: str, values: tuple[Mention, ...]) -> tuple[Word, ...]:
    words = []
    for match in LETTERS.finditer(text):
        if any(value.start <= match.start() < value.end for value in values):
            continue
        start, low = match.start(), folded(match[0])
        # What is cut off before these characters does not look like the beginning of the text.
        before = text[:start] if start <= _REACH else f"x{text[start - _REACH : start]}"
        if low != "s" or not _POSSESSIVE.search(before):
            opens = _SENTENCE_START.search(before) is not None
            words.append(Word(low, start, match.end(), match[0][0].isupper(), opens))
    return tuple(words)


def _names(
    text: str, words: Sequence[Word], code: str, value_ends: Set[int]
) -> tuple[tuple[tuple[Word, ...], ...], tuple[Word, ...]]:
    """The names, runs of capitalised words that are no months, and the words that are in none."""
    names: list[list[Word]] = []
    others: list[Word] = []
    for before, word, after in zip((None, *words), words, (*words[1:], None), strict=False):
        gap = text[before.end : word.start] if before else ""
        joins = bool(names) and names[-1][-1] is before and _WITHIN_NAME.fullmatch(gap) is not None
        is_name = word.capital and word.low not in language_of("").months
        if is_name and not joins:
            is_name = not is_function_word(word.low, code)
        if is_name and word.opens:
            follows = after is not None and after.capital and not after.opens
            is_name = follows and text[word.end : after.start if after else 0] in _BEFORE_NEXT
        if is_name and code == "de" and before and not joins:
            is_name = not _makes_noun(before, gap) and word.start not in value_ends and word.start - 1 not in value_ends
        if not is_name:
            others.append(word)
        elif joins:
            names[-1].append(word)
        else:
            names.append([word])
    return tuple(map(tuple, names)), tuple(others)


def _makes_noun(before: Word, gap: str) -> bool:
    """Whether the article or adjective before a capitalised German word makes a common noun of it."""
    adjective = before.low.endswith(("e", "en", "er", "es", "em")) and not before.capital and len(before.low) > 4
    return not gap.strip() and (adjective or before.low in listed("claims", "german_articles"))


# --- forms of words --------------------------------------------------------------------------------

_SHORTEST_STEM, _LONGEST_ENDING = 4, 4
_FAITH = lazy_pattern(r"(?<=\w{5})(?:ity|ism)$")
# Letters that forms of a word, and spellings of a name, begin with in common.
_TRAIT = 3


class Vocabulary:
    """Folded words, listed by what those that are forms of one have in common."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_trait: dict[str, list[str]] = {}
        for word in words:
            for trait in _traits(word):
                self._by_trait.setdefault(trait, []).append(word)

    def has(self, word: str) -> bool:
        """Whether one of its words says what a folded word says, or is the same name."""
        return bool(self.forms_of(word) or self.spellings_of(word))

    def forms_of(self, word: str) -> frozenset[str]:
        """The words that say what a folded word says."""
        return frozenset(
            other for trait in _traits(word) for other in self._by_trait.get(trait, ()) if _alike(word, other)
        )

    def spellings_of(self, word: str) -> frozenset[str]:
        """The words that are the same name, endings aside, or that of its followers: "Christian" for "Christianity"."""
        near = self._by_trait.get(word[:_TRAIT], ())
        return frozenset(other for other in near if same_name(word, other) or _FAITH.sub("", word) == other)


@lru_cache(maxsize=32768)
def _traits(word: str) -> frozenset[str]:
    """Its first letters and its relations: what is alike shares one of them."""
    return _senses("relations", word) | {word[:_TRAIT]}


def _alike(word: str, other: str) -> bool:
    if word == other:
        return True
    if _superlative(word) != _superlative(other):
        return False
    if _senses("relations", word) & _senses("relations", other):
        return True
    shared, longest = shared_beginning(word, other), max(len(word), len(other))
    return shared >= _SHORTEST_STEM and longest - shared <= _LONGEST_ENDING and 5 * shared >= 3 * longest


def _superlative(word: str) -> bool:
    return len(word) > 5 and word.endswith(("est", "ste", "sten", "ster", "stes", "stem", "issimo", "issima"))


_LONGEST_ENTRY = 40  # letters; no entry of the lists has as many


def senses(words: Iterable[str], table: str) -> frozenset[str]:
    """What folded words say by the lists of a table: relations, or sides of opposites ("+open" for "opened", "-open"
    for "closed")."""
    return frozenset().union(*(_senses(table, word) for word in words))


@lru_cache(maxsize=65536)
def _senses(table: str, word: str) -> frozenset[str]:
    entries = _entries(table)
    beginnings = (f"{word[:length]}*" for length in range(3, min(len(word), _LONGEST_ENTRY) + 1))
    return frozenset().union(*(entries.get(entry, ()) for entry in (word, *beginnings)))


@cache
def _entries(table: str) -> Mapping[str, frozenset[str]]:
    """The lists of a table that each word, or beginning of words ("design*"), stands in. What follows a "/" in a list
    is its other side."""
    lists: dict[str, set[str]] = {}
    for name in _tables()[table]:
        entries = listed(table, name)
        signs = ("+", "-") if "/" in entries else ("",)
        for index, entry in enumerate(entries):
            lists.setdefault(entry, set()).add(f"{signs['/' in entries[:index]]}{name}")
    return {entry: frozenset(names) for entry, names in lists.items()}
