"""Reads the names of a question by the titles of the corpus: capitals that were left out, and misspelt words; other
words that are misspelt by the vocabulary."""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Protocol, runtime_checkable

from iterative_rag.builtin.language.function_words import BASE_VERBS, QUESTION_WORDS, STOPWORDS, ordinal
from iterative_rag.builtin.language.nouns import FUNCTIONAL, KINSHIP, NOT_PERSON_WORDS, PLACES, ROLES
from iterative_rag.builtin.language.tokens import Token, is_verb
from iterative_rag.protocols import Corpus
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import NameReading

# A corpus of more titles is not looked through: that would take longer than a search.
MOST_TITLES = 100_000
# Shorter words, and shorter names, have too many neighbours; from LONG letters on two of a name's may be wrong.
SHORTEST, SHORTEST_NAME, LONG = 4, 5, 8
LONGEST_TITLE = 6  # words
# Passages that are looked at for a word which no title holds.
LOOKED_AT = 10
# So many characters before a word tell whether it begins a sentence, a row or a cell.
OPENING = 4

_WORD = lazy_pattern(r"[^\W\d_][\w.’'-]*[^\W_]|[^\W_]")
_BRACKETS = lazy_pattern(r"\s*\([^)]*\)$")
_OWN = lazy_pattern(r"['’]s?$")
_OPENS = lazy_pattern(r"(?:^|[.!?:|\n#*\-–—“\"])[\s“\"]*$")
_COMMON = STOPWORDS | BASE_VERBS | FUNCTIONAL | KINSHIP | NOT_PERSON_WORDS | PLACES | ROLES


@runtime_checkable
class TitledCorpus(Corpus, Protocol):
    """A corpus whose titles are known."""

    def titles(self) -> list[str]: ...


@runtime_checkable
class SuggestingCorpus(Corpus, Protocol):
    """A corpus, or several, whose titles are too many to be listed."""

    def titles_near(self, text: str) -> list[str]:
        """Titles with words of the text, or with words that begin as one of them which no title holds."""
        ...


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """A question with its names as the corpus writes them, and what was taken for something else than it is written."""

    question: str
    taken: tuple[NameReading, ...] = ()


class TitleWords:
    """The words of the titles of a corpus."""

    def __init__(self, titles: Sequence[str]) -> None:
        self.names: dict[tuple[str, ...], str] = {}
        self.words: dict[str, str] = {}  # folded, and as it is written
        self.titles_of: dict[str, list[frozenset[str]]] = defaultdict(list)
        self._by_form: dict[tuple[str, int], list[str]] = defaultdict(list)
        for title in titles:
            self._add(_BRACKETS.sub("", title.replace("_", " ")), whole=not _BRACKETS.search(title))

    def _add(self, title: str, *, whole: bool) -> None:
        written = [match[0] for match in _WORD.finditer(title)]
        plain = tuple(map(_plain, written))
        common = (word in ROLES or word in KINSHIP or ordinal(word) is not None for word in plain)
        if 1 < len(plain) <= LONGEST_TITLE and not any(common):
            self.names.setdefault(plain, title)
        for word, text in zip(plain, written, strict=True):
            if text[0].isupper() and word not in self.words and (len(plain) > 1 or whole):
                self.words[word] = text
                self._by_form[word[:1], len(word)].append(word)
            self.titles_of[word].append(frozenset(plain))

    def near(self, word: str) -> list[str]:
        """The words of titles that differ from a word in one letter, in two where it is long; the nearest first."""
        most = 2 if len(word) >= LONG else 1
        firsts = {word[0], word[1]}
        forms = [(first, len(word) + by) for first in firsts for by in range(-most, most + 1)]
        rated = [(letters_apart(word, hit), hit) for form in forms for hit in self._by_form[form]]
        least = min((apart for apart, _ in rated), default=most + 1)
        return [hit for apart, hit in rated if apart == least <= most]


class CorpusNames:
    """Reads questions by the titles of one corpus. `rank` is 0 for what is not known to be a word; of two words, the
    more common one has the lower rank. A word with a rank is spelt right whatever the titles."""

    def __init__(self, titles: TitleWords, corpus: TitledCorpus | SuggestingCorpus, rank: Callable[[str], int]) -> None:
        self._titles, self._corpus, self._rank = titles, corpus, rank

    def read(self, question: str, *, lower: bool) -> QuestionNames:
        """The question with capitals where it was asked in `lower` case, with misspelt names as a title writes them,
        and with other words as they are spelt."""
        names, taken = self, []
        if isinstance(self._corpus, SuggestingCorpus) and (near := self._corpus.titles_near(question)):
            listed = self._corpus.titles() if isinstance(self._corpus, TitledCorpus) else []
            names = CorpusNames(TitleWords([*listed, *near]), self._corpus, self._rank)
        in_passages = names._in_passages(question) if lower else TitleWords(())
        text = names._with_apostrophes(question, in_passages) if lower else question
        for start, end, word in reversed(list(names._misspelt(text, lower=lower))):
            taken.append(NameReading(text[start:end], word))
            text = text[:start] + word + text[end:]
        asked = names._with_capitals(text, in_passages) if lower else text
        if names._is_title(asked):
            asked = f"What is known about {asked.rstrip(' ?')}?"
        return QuestionNames(asked, tuple(reversed(taken)))

    def _is_title(self, question: str) -> bool:
        """Whether a title is all that is asked."""
        words = frozenset(_plain(question[start:end]) for start, end in _words(question))
        return any(words in self._titles.titles_of.get(word, ()) for word in words)

    def _misspelt(self, question: str, *, lower: bool) -> Iterator[tuple[int, int, str]]:
        """The places of misspelt words, each with the word that is meant."""
        asked = frozenset(_plain(question[start:end]) for start, end in _words(question))
        for start, end in _words(question):
            word = _plain(question[start:end])
            named = question[start].isupper() and start > 0
            if len(word) < SHORTEST or word in _COMMON or word in self._titles.titles_of or self._rank(word):
                continue
            near = self._titles.near(word) if len(word) >= SHORTEST_NAME and (lower or named) else []
            if len(near) > 1:
                # Of several, the one whose title has another word of the question.
                near = [hit for hit in near if any((asked - {word}) & title for title in self._titles.titles_of[hit])]
            small = question[start].islower() or (lower and start == 0)
            meant = self._titles.words[near[0]] if len(near) == 1 else self._nearest_word(word) if small else ""
            if meant and not self._occurs(word):
                owned = word == f"{_plain(meant)}s" and question[end : end + 2].strip().isupper()
                meant += "'s" * owned  # "Nolans Dawn"
                yield start, end, meant if start else meant[:1].upper() + meant[1:]

    def _nearest_word(self, word: str) -> str:
        """The most common word of which a letter was left out, or two were swapped; "" where there is none.

        A short word ("apse") has too many neighbours: it is taken for a question word at most.
        """
        near_by = [near for near in _mistyped(word) if len(word) >= SHORTEST_NAME or near in QUESTION_WORDS]
        ranks = {near: rank for near in near_by if (rank := self._rank(near))} if word.isalpha() else {}
        return min(ranks, key=lambda near: ranks[near], default="")

    def _occurs(self, word: str) -> bool:
        """Whether a passage of the corpus has the word, so that it is spelt as it should be."""
        return any(re.search(rf"\b{re.escape(word)}\b", folded(text)) for text in self._passages(word))

    def _passages(self, asked: str) -> Iterator[str]:
        (hits,) = self._corpus.search([asked], LOOKED_AT)
        return (self._corpus.document(hit.document_id).text[hit.start : hit.end] for hit in hits)

    def _in_passages(self, question: str) -> TitleWords:
        """The names that the nearest passages write with capitals, which no title need have: runs of such words, and
        single ones that stand alone within a sentence, are no words of the vocabulary, or stand in a title, as far as
        none of the passages writes them small."""
        names, alone, small = TitleWords(()), dict[str, str](), set[str]()
        for text in self._passages(question):
            run: list[tuple[int, int]] = []
            for start, end in [*_words(text), (len(text), len(text))]:
                capital = text[start:end][:1].isupper()
                if (run and text[run[-1][1] : start] != " ") or not capital:
                    if len(run) == 1 and not _OPENS.search(text[: run[0][0]][-OPENING:]):
                        alone.setdefault(_plain(text[slice(*run[0])]), text[slice(*run[0])])
                    run = []
                word = _plain(text[start:end])
                if not capital:
                    small.add(word)
                elif run or word not in STOPWORDS:
                    run = [*run, (start, end)][-LONGEST_TITLE:]
                    if not self._rank(word) or frozenset((word,)) in self._titles.titles_of.get(word, ()):
                        alone.setdefault(word, text[start:end])
                for n, (first, _) in enumerate(run[:-1]):
                    words = tuple(_plain(text[slice(*place)]) for place in run[n:])
                    names.names.setdefault(words, text[first:end])
        alone |= self._titles.words
        names.words = {word: text for word, text in alone.items() if word not in small}
        return names

    def _with_apostrophes(self, question: str, near: TitleWords) -> str:
        """The question with the apostrophes that possessives of names were written without: "japans main island"."""
        places, text = list(_words(question)), question
        for at in range(len(places) - 2, -1, -1):
            (start, end), (first, last) = places[at : at + 2]
            word, following = _plain(question[start:end]), _plain(question[first:last])
            known = word in near.words or self._rank(word) > 0
            thing = not (following in STOPWORDS or is_verb(Token(following, 0, len(following))))
            if word.endswith("s") and thing and not known and self._name(word[:-1], near.words):
                text = f"{text[: end - 1]}'{text[end - 1 :]}"
        return text

    def _with_capitals(self, question: str, near: TitleWords) -> str:
        """The question with the names that titles and the passages have, and the rarer words of titles, as they are
        written there."""
        places = list(_words(question))
        words = tuple(_plain(question[start:end]) for start, end in places)
        names = ChainMap(self._titles.names, near.names)
        text, written, at = "", 0, 0
        while at < len(words):
            counts = range(min(LONGEST_TITLE, len(words) - at), 1, -1)
            count = next((n for n in counts if words[at : at + n] in names), 1)
            start, end = places[at][0], places[at + count - 1][1]
            name = names.get(words[at : at + count]) if count > 1 else self._name(words[at], near.words)
            text += question[written:start] + (name or question[start:end])
            written, at = end, at + count
        return text + question[written:]

    def _name(self, word: str, singles: Mapping[str, str]) -> str | None:
        """A word as a title or a passage writes it, unless it may be a common one: "born", "queen"."""
        common = word in _COMMON or len(word) < 3 or ordinal(word) is not None
        return None if common or is_verb(Token(word, 0, len(word))) else singles.get(word)


def _words(question: str) -> Iterator[tuple[int, int]]:
    """Where the words of a question are, without a possessive ending."""
    for match in _WORD.finditer(question):
        yield match.start(), match.start() + len(_OWN.sub("", match[0]))


def _mistyped(word: str) -> Iterator[str]:
    """The words that are often mistyped so (Norvig 2007): with one letter more, or with two swapped."""
    for at in range(len(word) + 1):
        start, end = word[:at], word[at:]
        yield from (start + letter + end for letter in ascii_lowercase)
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]


def letters_apart(word: str, other: str) -> int:
    """Letters that are missing, added, wrong or swapped with the next one (optimal string alignment distance)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        now = [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(row[j] + 1, now[-1] + 1, row[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, row = row, now
    return row[-1]


def _plain(word: str) -> str:
    return folded(word).strip(".'’")
