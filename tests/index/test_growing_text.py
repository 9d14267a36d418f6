"""Pieces of a text that grows are found where `str.find` finds them."""

from __future__ import annotations

import random

from iterative_rag.index.collections.assembled_document import GrowingText


def test_pieces_are_found_as_in_the_whole_text() -> None:
    chance = random.Random(7)
    words = ["Velm", "bridge", "the", "of", "1843,", "opened\n\n", "桥梁桥梁", "x" * 40]
    growing, whole = GrowingText(), ""
    for _ in range(300):
        added = " ".join(chance.choices(words, k=chance.randrange(1, 30)))
        growing.add(added)
        whole += added
        begin = chance.randrange(len(whole))
        piece = whole[begin : begin + chance.randrange(1, 400)]
        assert growing.find(piece) == whole.find(piece)
        changed = f"{piece[:-1]}§"
        assert growing.find(changed) == -1
    assert growing.text == whole
