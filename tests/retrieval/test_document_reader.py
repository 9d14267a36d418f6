"""Reading the shortlist: how many calls, in which order, and which quotes count."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.in_memory import DictCache, MemoryCorpus
from fakes.scripted_roles import Quoting
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.need_reading import ReadingTask
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Extract, Need, ShortlistedDocument, Window

NEED = Need("Where is it?")


def pages(count: int, telling: set[int]) -> tuple[MemoryCorpus, list[Window]]:
    texts = {f"Page {n:02}": f"{'Yes' if n in telling else 'No'}, page {n} says so. More." for n in range(count)}
    corpus = MemoryCorpus(texts)
    windows = [Window(title, title, f"{title}.md", ((0, len(text)),), text) for title, text in texts.items()]
    return corpus, windows


def task(windows: Sequence[Window], need: Need = NEED) -> ReadingTask:
    listed = [ShortlistedDocument(part.document_id, part.title, part.source, 1.0, ()) for part in windows]
    return ReadingTask(need, listed, windows)


def reader(
    corpus: MemoryCorpus, extractor: Quoting, cache: DictCache | None = None, limit: int = 50, *, sparing: bool = False
) -> DocumentReader:
    return DocumentReader(
        corpus,
        extractor,
        cache=cache or DictCache(),
        fact_limit=limit,
        in_flight=8,
        on_hit=lambda what: None,
        sparing=sparing,
    )


def test_as_many_windows_are_read_at_once_as_may_be_in_flight() -> None:
    """The first window is read alone; the next eight calls end only once all of them have begun."""
    together = threading.Barrier(8, timeout=30)

    class Waiting(Quoting):
        def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
            if "Page 00" < windows[0].title < "Page 09":
                together.wait()
            return super().extract(needs, windows, question)

    corpus, windows = pages(20, set(range(20)))
    extractor = Waiting(["Yes"])
    (reading,) = reader(corpus, extractor).read([task(windows)])
    assert extractor.most_busy <= 8
    assert len(reading.facts) == reading.record.read == 20


def test_early_stop_leaves_the_rest_unread() -> None:
    corpus, windows = pages(20, {0, 1})
    extractor = Quoting(["Yes"], latency=0.05)
    (reading,) = reader(corpus, extractor, limit=2).read([task(windows)])
    assert {fact.title for fact in reading.facts} == {"Page 00", "Page 01"}
    assert len(extractor.calls) <= 12
    assert reading.record.skipped >= 8


def test_thrifty_reading_ends_soon_after_a_value_was_found() -> None:
    corpus, windows = pages(20, {1, 2, 9})
    sparing, thorough = Quoting(["Yes"], latency=0.05), Quoting(["Yes"])
    (reading,) = reader(corpus, sparing, sparing=True).read([task(windows)])
    assert {fact.title for fact in reading.facts} == {"Page 01"}
    assert sparing.calls == ["Page 00", "Page 01"]
    reader(corpus, thorough).read([task(windows)])
    assert len(thorough.calls) == 20


@pytest.mark.parametrize(("question", "read"), [("Where is Page 00?", 1), ("How many are on Page 00?", 10)])
def test_a_certain_value_of_what_is_named_ends_thorough_reading_for_counts_later(question: str, read: int) -> None:
    """The third window ends a count; eight others may be under way when the second has arrived."""
    corpus, windows = pages(20, set(range(20)))
    extractor = Quoting(["Yes"])
    reader(corpus, extractor).read([task(windows, Need(question))])
    assert len(extractor.calls) <= read


def test_corroborating_reading_goes_on_for_others_that_say_it_too() -> None:
    corpus, windows = pages(20, {0, 4, 12})
    sparing = reader(corpus, Quoting(["Yes"]), sparing=True)
    (first,) = sparing.read([task(windows)])
    (both,) = sparing.corroborating(limited=False).read([task(windows)])
    assert {fact.title for fact in first.facts} == {"Page 00"}
    assert {fact.title for fact in both.facts} == {"Page 00", "Page 04"}


def test_a_second_reading_costs_no_call_and_finds_the_same() -> None:
    corpus, windows = pages(20, {3, 4, 11})
    cache, extractor = DictCache(), Quoting(["Yes"], latency=0.01)
    (first,) = reader(corpus, extractor, cache, limit=2).read([task(windows)])
    before = len(extractor.calls)
    (second,) = reader(corpus, extractor, cache, limit=2).read([task(windows, Need("where is  IT"))])
    assert len(extractor.calls) == before
    assert [fact.quote for fact in second.facts] == [fact.quote for fact in first.facts]
    assert second.record.cached == second.record.read


def test_an_edited_document_is_read_again() -> None:
    corpus, windows = pages(1, {0})
    cache, extractor = DictCache(), Quoting(["Yes"])
    reader(corpus, extractor, cache).read([task(windows)])
    changed = "Yes, it says something else. More."
    edited = MemoryCorpus({"Page 00": changed})
    new = Window("Page 00", "Page 00", "Page 00.md", ((0, len(changed)),), changed)
    (reading,) = reader(edited, extractor, cache).read([task([new])])
    assert reading.facts[0].quote == "Yes, it says something else."
    assert len(extractor.calls) == 2


def test_a_quote_that_is_not_there_is_dropped_and_counted() -> None:
    class Inventing(Quoting):
        def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
            return (Extract("s", "Words that nobody wrote."), Extract("s", windows[0].text.split(".")[0]))

    corpus, windows = pages(2, {0, 1})
    (reading,) = reader(corpus, Inventing([])).read([task(windows)])
    assert (len(reading.facts), reading.record.dropped) == (2, 2)


def test_a_fact_says_the_page_that_its_quote_begins_on() -> None:
    corpus, windows = pages(1, {0})
    (before,) = reader(corpus, Quoting(["Yes"])).read([task(windows)])
    corpus.documents = {name: dataclasses.replace(one, pages=(0, 0, 12)) for name, one in corpus.documents.items()}
    (after,) = reader(corpus, Quoting(["Yes"])).read([task(windows)])
    assert [fact.page for fact in (*before.facts, *after.facts)] == [None, 2]


PAINTED = 'She painted the "Blue Gate" in 1912–1914, the ‘best’ work.'
STRUCK = "The ticket costs ~~60~~ 48 euro, ~5 crowns more than ~~~ is, and <s>7</s> 9 at night."


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        (PAINTED, "the “Blue Gate”", 'the "Blue Gate"'),
        (PAINTED, "the 'best' \n work", "the ‘best’ work"),
        (PAINTED, "1912-1914", "1912–1914"),
        (PAINTED, "...in 1912–1914…", "in 1912–1914"),
        (PAINTED, "the blue gate", None),
        (PAINTED, "a", None),
        (PAINTED, "", None),
        (STRUCK, "costs 48 euro", "costs ~~60~~ 48 euro"),
        (STRUCK, "costs ~~60~~ 48", "costs ~~60~~ 48"),
        (STRUCK, "costs 60 48 euro", None),
        (STRUCK, "costs 60 euro", None),
        (STRUCK, "and 9 at night", "and <s>7</s> 9 at night"),
    ],
)
def test_quotes_are_found_whatever_their_typography_and_without_what_is_struck(
    text: str, quote: str, found: str | None
) -> None:
    place = locate(quote, text, [(0, len(text))])
    assert (text[place[0] : place[1]] if place else None) == found


@given(st.text(min_size=30), st.data())
def test_every_stretch_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 12))
    stretch = text[start : start + 12]
    place = locate(stretch, text, [(0, len(text))])
    if len("".join(c for c in stretch if c.isalnum())) >= 10:
        assert place is not None
