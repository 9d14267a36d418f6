"""Hard passages for a question: those that the package's own search puts first and that do not answer it.

    python -m scripts.train.evidence.mining --data FOLDER --out FILE

writes the vectors of all questions and passages (the shipped encoder's, some minutes); with that file passages are
ranked by BM25 and vectors together, as the index does, otherwise by BM25 alone.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scripts.train.data import Passage
from scripts.train.evidence import aside, asked, short_needs, tables
from scripts.train.evidence.asked import Asked, Shown, holds
from scripts.train.negatives import BM25

FOUND, DEPTH = 4, 16
RELATION = 0.4  # of the searches leave out the names of the article: the right relation of another subject
FUSION = 60  # the constant of reciprocal rank fusion
Vectors = npt.NDArray[np.float32]


class Embedded:
    """Vectors of texts, by their hashes."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as found:
            self._vectors: Vectors = found["vectors"].astype(np.float32)
            self._places = {key: place for place, key in enumerate(found["keys"].tolist())}

    def __call__(self, text: str) -> Vectors | None:
        place = self._places.get(key(text))
        return None if place is None else self._vectors[place]


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Mined:
    """Searches the passages of one part."""

    def __init__(self, questions: Sequence[Asked], embedded: Embedded | None = None) -> None:
        shown = {one.text: one for question in questions for one in question.gold if one.title}
        self._embedded = embedded
        self._shown = [one for one in shown.values() if embedded is None or embedded(one.text) is not None]
        self.titles = sorted({one.title for one in self._shown})
        self._index = BM25([Passage(one.title, one.text) for one in self._shown])
        found = [embedded(one.text) for one in self._shown] if embedded else []
        self._matrix = np.array(found, np.float32)

    def near(self, question: Asked, chance: random.Random) -> list[Shown]:
        """Up to FOUND passages that do not hold the answer, nearest first."""
        gold = question.gold[0] if question.gold else None
        found: list[Shown] = []
        for place in self._ranked(question, gold, chance):
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

    def _ranked(self, question: Asked, gold: Shown | None, chance: random.Random) -> list[int]:
        if gold and chance.random() < RELATION:
            title = set(gold.title.lower().split())
            words = (word for word in question.question.split() if word.lower().strip("?,.'s") not in title)
            return self._index.best(" ".join(words), DEPTH)
        by_words = self._index.best(question.question, DEPTH)
        vector = self._embedded(question.question) if self._embedded else None
        if vector is None:
            return by_words
        scores = self._matrix @ vector
        nearest = np.argpartition(-scores, DEPTH)[:DEPTH]
        by_vectors = nearest[np.argsort(-scores[nearest], kind="stable")].tolist()
        ranks: dict[int, float] = {}
        for order in (by_words, by_vectors):
            for rank, place in enumerate(order):
                ranks[place] = ranks.get(place, 0.0) + 1 / (FUSION + rank)
        return sorted(ranks, key=lambda place: -ranks[place])


def main() -> None:
    from iterative_rag.builtin.encoder import BuiltinEncoder

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"))
    arguments = parser.parse_args()

    parts = aside.parts(arguments.data, arguments.starter)
    questions = [*asked.everything(arguments.data, parts), *tables.look_ups(arguments.data, parts)]
    questions += short_needs.one_hop(arguments.data, parts, "vectors")
    trained = [one for one in questions if one.part == aside.TRAIN]
    texts = {one.question: None for one in trained} | {gold.text: None for one in trained for gold in one.gold}
    listed = list(texts)
    encoder, found = BuiltinEncoder(threads=1), []
    for first in range(0, len(listed), 2000):
        found.append(encoder.embed_documents(listed[first : first + 2000]).astype(np.float16))
        print(f"{min(first + 2000, len(listed))} of {len(listed)} texts", flush=True)
    np.savez(arguments.out, keys=np.array([key(text) for text in listed]), vectors=np.concatenate(found))


if __name__ == "__main__":
    main()
