"""The word lists of this folder, and when two folded words are forms of one or say the same relation ("designed", "the
designer", "entworfen")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache, partial

from iterative_rag.text.comparing import same_name, shared_beginning
from iterative_rag.text.patterns import lazy_pattern, table_beside

_tables = partial(table_beside, __file__, "words.toml")


@cache
def words(table: str, name: str) -> tuple[str, ...]:
    """The words of one list; a "_" in the file is a blank."""
    return tuple(word.replace("_", " ") for word in _tables()[table][name].split())


def pattern(table: str, name: str) -> str:
    """A list of regular expressions, one a line, as one of alternatives."""
    return f"(?:{'|'.join(_tables()[table][name].strip().splitlines())})"


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
    return relations_of(word) | {word[:_TRAIT]}


def _alike(word: str, other: str) -> bool:
    if word == other:
        return True
    if _superlative(word) != _superlative(other):
        return False
    if relations_of(word) & relations_of(other):
        return True
    shared, longest = shared_beginning(word, other), max(len(word), len(other))
    return shared >= _SHORTEST_STEM and longest - shared <= _LONGEST_ENDING and 5 * shared >= 3 * longest


def _superlative(word: str) -> bool:
    return len(word) > 5 and word.endswith(("est", "ste", "sten", "ster", "stes", "stem", "issimo", "issima"))


_LONGEST_ENTRY = 40  # letters; no entry of the lists has as many


@lru_cache(maxsize=32768)
def relations_of(word: str) -> frozenset[str]:
    """The relations that a word may say."""
    return _listed("relations", word)


def opposites(words: Iterable[str], table: str = "opposites") -> frozenset[str]:
    """The sides of opposites that folded words stand for: "+open" for "opened", "-open" for "closed"."""
    return frozenset().union(*(_listed(table, word) for word in words))


def _listed(table: str, word: str) -> frozenset[str]:
    entries = _entries(table)
    beginnings = (f"{word[:length]}*" for length in range(3, min(len(word), _LONGEST_ENTRY) + 1))
    return frozenset().union(*(entries.get(entry, ()) for entry in (word, *beginnings)))


@cache
def _entries(table: str) -> Mapping[str, frozenset[str]]:
    """The lists of a table that each word, or beginning of words ("design*"), stands in. What follows a "/" in a list
    is its other side."""
    lists: dict[str, set[str]] = {}
    for name in _tables()[table]:
        entries = words(table, name)
        signs = ("+", "-") if "/" in entries else ("",)
        for index, entry in enumerate(entries):
            lists.setdefault(entry, set()).add(f"{signs['/' in entries[:index]]}{name}")
    return {entry: frozenset(names) for entry, names in lists.items()}
