"""What the tools of the strategy `agent` show of what they found."""

from __future__ import annotations

from fakes.in_memory import MemoryCorpus
from iterative_rag.engine.agent_results import Found, Passages, ShownTexts
from iterative_rag.retrieval.article_titles import ArticleTitles

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
