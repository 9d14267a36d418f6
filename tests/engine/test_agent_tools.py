"""What the tools of the strategy `agent` show of what they found."""

from __future__ import annotations

import pytest

from fakes.in_memory import MemoryCorpus
from iterative_rag.engine.agent_results import CUT, Found, Passages, ShownTexts, shared
from iterative_rag.retrieval.article_titles import ArticleTitles
from iterative_rag.types import Hit, ShortlistedDocument

PAGES = {f"Page {n}": f"Sentence {n} of the page. " * 20 for n in range(4)}


def test_articles_without_room_are_counted_and_shown_when_there_is_room() -> None:
    corpus = MemoryCorpus(PAGES)
    shown = ShownTexts(ArticleTitles(corpus))
    documents = [corpus.document(title) for title in PAGES]
    found = Found("search page", "4 articles", "", tuple(Passages(one, ((0, len(one.text)),)) for one in documents))
    first = shown.text(found, 300)
    assert first.startswith("# Page 0\nSentence 0")
    assert first.endswith("(3 more articles not shown: ask for fewer at once)")
    assert "# Page 1" not in first
    assert "Sentence 3 of the page." in shown.text(found, 10_000)  # what had no room does not count as shown


PAST = "Long ago the pier was planned, paid for and forgotten by the town council of the day. " * 30
FOUND = "The pier of Orm was opened by Ines Vane in 1904, after eleven years of work on it."


@pytest.mark.parametrize("room", [300, 600, 800, 1500, 4000])
def test_a_window_keeps_its_size_and_what_was_found_comes_before_the_lead(room: int) -> None:
    text = f"The pier of Orm is a pier. {PAST}\n\n## Opening\n\n{FOUND}\n\n{PAST}"
    corpus = MemoryCorpus({"Pier of Orm": text})
    document = corpus.document("Pier of Orm")
    at = text.index(FOUND)
    hit = Hit(document.id, document.title, at, at + len(FOUND), 1.0)
    entry = ShortlistedDocument(document.id, document.title, document.source, 1.0, (hit,))
    shown = ShownTexts(ArticleTitles(corpus)).text(Found("search", "", "", (Passages(document, entry=entry),)), room)
    assert FOUND in shown
    assert len(shown) <= room + len(f"# {document.title}\n{CUT}")
    assert ("is a pier. Long ago" in shown) == (room >= 900)


def test_room_goes_to_those_that_need_it() -> None:
    assert shared(1000, [50, 2000, 100, 2000]) == [50, 425, 100, 425]
    assert shared(1000, [100, 200]) == [100, 200]
    assert shared(0, [100, 200]) == [0, 0]
    assert shared(1000, []) == []
