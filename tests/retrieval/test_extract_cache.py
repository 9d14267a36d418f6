"""What was extracted is found again by the same need in other words, and rows of the cache are untrusted input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fakes.in_memory import DictCache
from iterative_rag.protocols import Vectors
from iterative_rag.retrieval.extract_cache import ExtractCache
from iterative_rag.types import Extract, Need, Window

WINDOW = Window("quill", "Quill Hall", "quill.md", ((0, 44),), "Quill Hall was designed by Maren Tove in 1911.")
DESIGNED = Need("Who designed Quill Hall?")
ARCHITECT = Need("Who was the architect of Quill Hall?")
BUILT = Need("Who built Quill Hall?")
EXTRACT = Extract("Quill Hall was designed by Maren Tove.", "designed by Maren Tove", "Maren Tove")


@dataclass(frozen=True)
class Versioned:
    """An extractor of which only the fingerprint counts."""

    fingerprint: str = "one"

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        raise AssertionError("nothing is extracted here")


def alike(text: str) -> Vectors:
    return np.array([1.0, 0.0], np.float32)


def filled(*extracts: Extract, need: Need = DESIGNED) -> tuple[DictCache, ExtractCache]:
    cache = DictCache()
    kept = ExtractCache(cache, Versioned(), alike)
    kept.put([need], WINDOW, "", extracts)
    return cache, kept


def test_the_same_need_in_other_words_is_found() -> None:
    _, kept = filled(EXTRACT)
    assert kept.get([ARCHITECT], WINDOW, "") == (EXTRACT,)
    assert kept.get([ARCHITECT, DESIGNED], WINDOW, "") == (EXTRACT, replace(EXTRACT, needs=(1,)))
    assert kept.get([BUILT], WINDOW, "") is None


def test_another_text_another_model_and_words_alone_find_nothing() -> None:
    cache, kept = filled(EXTRACT)
    assert kept.get([ARCHITECT], replace(WINDOW, text=f"{WINDOW.text} It burnt down."), "") is None
    assert ExtractCache(cache, Versioned("two"), alike).get([ARCHITECT], WINDOW, "") is None
    assert ExtractCache(cache, Versioned()).get([ARCHITECT], WINDOW, "") is None


def test_nothing_found_and_no_value_are_no_reason_to_skip_reading() -> None:
    for extracts in ((), (replace(EXTRACT, value=""),)):
        _, kept = filled(*extracts)
        assert kept.get([ARCHITECT], WINDOW, "") is None
        assert kept.get([DESIGNED], WINDOW, "") == extracts
