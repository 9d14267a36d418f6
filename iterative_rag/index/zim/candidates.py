"""The pages of a ZIM file that may tell of a need.

The index of the file joins the words of a query by AND and knows no OR, so a question as it stands finds nothing. Many
small queries do: all its rare words, fewer and fewer of them; names, alone and with another word; neighbours; single
words; titles. Their rankings are fused, each weighed by how rare its words are in the file, and links of the best pages
are followed.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from iterative_rag.index.zim.file_indexes import FileIndexes
from iterative_rag.retrieval.need_words import names_in, without_scaffolding
from iterative_rag.sources.zim_file import ZimFile
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language

# Of each ranking so many pages count, by their reciprocal ranks. Chosen on one half of FRAMES dev, over 2,460 pages.
DEPTH, TITLES_DEPTH, RANK_OFFSET = 20, 10, 5
# Of the first pages so many are subjects, whose best links count, on the same half, with links between those pages.
SUBJECTS, LINKS, LINKS_OFFSET = 3, 10, 15
# The words that are asked for together, beside a name, alone, and among titles: the rarest.
TOGETHER, BESIDE_NAME, ALONE, IN_TITLES = 8, 6, 8, 4
# The rarest words of a query within so many characters tell how much of it a page has at one place; words count without
# their last letters, which their endings change. That ranking and the first one are fused.
NEAR, ENDING, SHORTEST_STEM, DENSITY_OFFSET = 500, 2, 4, 10
# A larger page is not read: it would take seconds and hundreds of megabytes. The longest lists of Wikipedia have less.
PAGE_BYTES = 4 * 1024 * 1024

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
# What asks, beside the function words of each language.
_ASKING = frozenset(
    ["what", "which", "who", "whom", "whose", "when", "where", "how", "why", "many", "much", "name", "tell"]
)

Words = tuple[str, ...]


class Candidates:
    """Safe to use from several threads."""

    def __init__(self, file: ZimFile, indexes: FileIndexes) -> None:
        self._file, self._indexes = file, indexes
        self._frequency = lru_cache(maxsize=4096)(indexes.frequency)
        self.densest = lru_cache(maxsize=256)(self._densest)

    def of(self, query: str, most: int) -> list[str]:
        """The paths of at most `most` pages, the best first. Raises CorpusError where the index is damaged."""
        query = without_scaffolding(query)
        words = content_words(query)
        rarity = {word: self.rarity(word) for word in words}
        names = [tuple(content_words(name)) for name in names_in(query)]
        scores: dict[str, float] = {}
        queries = list(dict.fromkeys(_queries(words, rarity, [name for name in names if name])))
        wanted = [(kind, " ".join(asked), TITLES_DEPTH if kind == "title" else DEPTH) for kind, asked in queries]
        replies = self._indexes.ask(wanted)
        for (_, asked), (_, paths) in zip(queries, replies, strict=True):
            weight = sum(rarity.get(word) or self.rarity(word) for word in asked)
            for rank, path in enumerate(paths, start=1):
                scores[path] = scores.get(path, 0.0) + weight / (RANK_OFFSET + rank)
        ranked = sorted(scores, key=lambda path: (-scores[path], path))
        fused = {path: 1 / (RANK_OFFSET + rank) for rank, path in enumerate(ranked, start=1)}
        for rank, path in enumerate(self._linked(rarity, ranked[:SUBJECTS]), start=1):
            fused[path] = fused.get(path, 0.0) + 1 / (LINKS_OFFSET + rank)
        return sorted(fused, key=lambda path: (-fused[path], path))[:most]

    def _densest(self, query: str, paths: Words, most: int) -> Words:
        """The `most` of these pages that shall be read, in the same order: the first ones, and those that hold much of
        the query at one place. None of them is converted for that."""
        told = set(content_words(query))
        stems: dict[str, float] = {}
        for match in _WORD.finditer(query.lower()):
            word = _POSSESSIVE.sub("", match[0])
            if (plain := folded(word)) in told and (weight := self.rarity(plain)):  # with its accents, and without
                stems |= {form[: max(SHORTEST_STEM, len(form) - ENDING)]: weight for form in (word, plain)}
        if not stems or len(paths) <= most:
            return paths[:most]
        pattern = re.compile("|".join(rf"\b{re.escape(stem)}" for stem in sorted(stems, key=len, reverse=True)))
        density = {path: _density(self._file.plain(path, PAGE_BYTES), pattern, stems) for path in paths}
        scores = {path: 1 / (DENSITY_OFFSET + rank) for rank, path in enumerate(paths)}
        for rank, path in enumerate(sorted(paths, key=lambda path: -density[path])):
            scores[path] += 1 / (DENSITY_OFFSET + rank)
        best = set(sorted(paths, key=lambda path: -scores[path])[:most])
        return tuple(path for path in paths if path in best)

    def _linked(self, rarity: Mapping[str, float], subjects: Sequence[str]) -> list[str]:
        """The pages that the subjects of a query lead to, where the rest of its words stands around the link: the page
        of a president leads to his niece, whose own page may call her by a married name."""
        scores: dict[str, float] = {}
        for subject in subjects:
            title = content_words(self._file.title(subject) or "")
            asked = [word for word in rarity if word not in title]
            for path, around in self._file.links(subject):
                words = set(_WORD.findall(folded(around)))
                if score := sum(rarity[word] for word in asked if word in words):
                    scores[path] = max(score, scores.get(path, 0.0))
        return sorted(scores, key=lambda path: (-scores[path], path))[:LINKS]

    def rarity(self, word: str) -> float:
        """The inverse document frequency of a word; 1 for all of them where the file has no index of words."""
        if not self._file.has_words:
            return 1.0
        pages = self._frequency(word)
        return math.log(1 + max(0.0, self._file.articles - pages + 0.5) / (pages + 0.5)) if pages else 0.0


def _density(text: str, pattern: re.Pattern[str], weights: Mapping[str, float]) -> float:
    """The greatest sum of the weights of different words that stand near each other."""
    best, window = 0.0, deque[tuple[int, str]]()
    for match in pattern.finditer(text):
        window.append((match.start(), match[0]))
        while window[0][0] < match.start() - NEAR:
            window.popleft()
        best = max(best, sum(weights[word] for word in {word for _, word in window}))
    return best


def content_words(text: str) -> list[str]:
    """The words of a text, folded, each once, without those that ask and bind."""
    code = language(text)
    words = (_POSSESSIVE.sub("", folded(match[0])) for match in _WORD.finditer(text))
    told = (word for word in words if word and word not in _ASKING and not is_function_word(word, code))
    return list(dict.fromkeys(told))


def _queries(words: Sequence[str], rarity: dict[str, float], names: Sequence[Words]) -> Iterator[tuple[str, Words]]:
    """Queries of the index of words ("text") and of that of titles ("title")."""
    rare = sorted((word for word in words if rarity[word]), key=lambda word: -rarity[word])
    for count in range(min(TOGETHER, len(rare)), 1, -1):
        yield "text", tuple(rare[:count])
    for name in names:
        yield "text", name
        yield "title", name
        for word in [word for word in rare if word not in name][:BESIDE_NAME]:
            yield "text", (*name, word)
    pairs = list(pairwise(words))
    yield from (("text", pair) for pair in pairs)
    yield from (("text", (*pair, word)) for pair, word in zip(pairs, words[2:], strict=False))
    yield from (("title", pair) for pair in pairs)
    yield from (("text", (word,)) for word in rare[:ALONE])
    yield from (("title", (word,)) for word in rare[:IN_TITLES])
