"""What was extracted is found again by the same need, and rows of the cache are untrusted input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fakes.in_memory import DictCache
from iterative_rag.retrieval.reading_memory import ExtractCache
from iterative_rag.types import Extract, Need, Window

WINDOW = Window("quill", "Quill Hall", "quill.md", ((0, 44),), "Quill Hall was designed by Maren Tove in 1911.")
DESIGNED = Need("Who designed Quill Hall?")
ARCHITECT = Need("Who was the architect of Quill Hall?")
EXTRACT = Extract("Quill Hall was designed by Maren Tove.", "designed by Maren Tove", "Maren Tove")


@dataclass(frozen=True)
class Versioned:
    """An extractor of which only the fingerprint counts."""

    fingerprint: str = "one"

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        raise AssertionError("nothing is extracted here")


def filled(*extracts: Extract) -> tuple[DictCache, ExtractCache]:
    cache = DictCache()
    kept = ExtractCache(cache, Versioned())
    kept.put([DESIGNED], WINDOW, "", extracts)
    return cache, kept


def test_the_same_need_is_found_in_the_same_words_of_the_same_text_by_the_same_model() -> None:
    cache, kept = filled(EXTRACT)
    assert kept.get([DESIGNED], WINDOW, "") == (EXTRACT,)
    assert kept.get([ARCHITECT], WINDOW, "") is None
    assert kept.get([DESIGNED, ARCHITECT], WINDOW, "") is None
    assert kept.get([DESIGNED], replace(WINDOW, text=f"{WINDOW.text} It burnt down."), "") is None
    assert ExtractCache(cache, Versioned("two")).get([DESIGNED], WINDOW, "") is None


def test_a_row_of_another_form_is_a_miss() -> None:
    cache, kept = filled(EXTRACT)
    (key,) = cache.entries
    for damaged in ([7], [{"statement": "x"}], "x", [{**cache.entries[key][0], "score": 2}]):
        cache.entries[key] = damaged
        assert kept.get([DESIGNED], WINDOW, "") is None
        assert key not in cache.entries
