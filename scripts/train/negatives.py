"""Hard negatives: the passages that BM25 puts first for a question and that do not hold its answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scripts.train.data import Passage, Question, holds

K1, B = 0.9, 0.4
MINED = 4
DEPTH = 24
# Words of questions, which rank nothing.
STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at by did do doe does for from had has have how in is it many much of on or that the to was "
        "were what when where which who whom whose why with s",
    )
)


class BM25:
    """Robertson's BM25 over passages with their titles, in memory."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        counts = [Counter(_terms(f"{p.title} {p.text}")) for p in passages]
        lengths = np.array([sum(count.values()) for count in counts], np.float32)
        norm = K1 * (1 - B + B * lengths / lengths.mean())
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for row, count in enumerate(counts):
            for term, times in count.items():
                rows, tfs = postings.setdefault(term, ([], []))
                rows.append(row)
                tfs.append(times)
        self._size = len(passages)
        self._postings: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]] = {}
        for term, (found, tfs) in postings.items():
            rows_array, tf = np.array(found), np.array(tfs, np.float32)
            idf = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            self._postings[term] = rows_array, idf * tf * (K1 + 1) / (tf + norm[rows_array])

    def best(self, query: str, depth: int) -> list[int]:
        """Rows of the best passages, best first."""
        scores = np.zeros(self._size, np.float32)
        for term in dict.fromkeys(_terms(query)):  # in a fixed order: sums of floats depend on it
            if term in self._postings:
                rows, weights = self._postings[term]
                scores[rows] += weights
        top = np.argpartition(-scores, min(depth, self._size - 1))[:depth]
        return [int(row) for row in top[np.argsort(-scores[top], kind="stable")] if scores[row] > 0]


def with_mined(questions: Sequence[Question], passages: Sequence[Passage]) -> list[Question]:
    """The questions with up to MINED more other passages, after the ones they have (which are nearer still)."""
    index = BM25(passages)
    return [_mined(question, index, passages) if question.mine else question for question in questions]


def _mined(question: Question, index: BM25, passages: Sequence[Passage]) -> Question:
    own = {gold.passage.text for gold in question.gold} | {other.text for other in question.others}
    subjects = [gold.passage for gold in question.gold]
    found: list[Passage] = []
    for row in index.best(question.needs[0], DEPTH):
        passage = passages[row]
        # The same article may tell it again in other words; without answers to look for, that cannot be excluded.
        told = holds(passage, question.answers) if question.answers else passage.title in {p.title for p in subjects}
        if passage.text not in own and not told:
            found.append(passage)
        if len(found) == MINED:
            break
    return replace(question, others=(*question.others, *found))


def _terms(text: str) -> list[str]:
    found = (term for term in re.findall(r"\w+", text.lower()) if term not in STOPWORDS)
    return [term[:-1] if len(term) > 3 and term.endswith("s") else term for term in found]
