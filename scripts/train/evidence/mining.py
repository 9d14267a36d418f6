"""Hard passages for a question: those that BM25 puts first and that do not answer it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from scripts.train.data import Passage
from scripts.train.evidence.asked import Asked, Shown, holds
from scripts.train.negatives import BM25

FOUND, DEPTH = 4, 16
RELATION = 0.4  # of the searches leave out the names of the article: the right relation of another subject


class Mined:
    """Searches the passages of one part."""

    def __init__(self, questions: Sequence[Asked]) -> None:
        self._shown = list({one.text: one for question in questions for one in question.gold if one.title}.values())
        self.titles = sorted({one.title for one in self._shown})
        self._index = BM25([Passage(one.title, one.text) for one in self._shown])

    def near(self, question: Asked, chance: random.Random) -> list[Shown]:
        """Up to FOUND passages that do not hold the answer, nearest first."""
        gold = question.gold[0] if question.gold else None
        found: list[Shown] = []
        words = question.question.split()
        if gold and chance.random() < RELATION:
            title = set(gold.title.lower().split())
            words = [word for word in words if word.lower().strip("?,.'s") not in title]
        for place in self._index.best(" ".join(words), DEPTH):
            one = self._shown[place]
            same = gold is not None and one.text[:80] == gold.text[:80]
            # Without answers to look for, another passage of the article may decide the question, too.
            told = gold is not None and one.title == gold.title
            if question.answers:
                told = holds(f"{one.title} {one.text}", question.answers)
            if not same and not told:
                found.append(Shown(one.title, one.section, one.text, (), False))
            if len(found) == FOUND:
                break
        return found
