"""Refinement: what does not serve is dropped, and what stays can still be quoted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.engine.correction.refinement import SHORTEST, Refiner, strips
from iterative_rag.protocols import Grader
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.retrieval.windows import GAP, as_cut, is_cut, window
from iterative_rag.types import Document, Grade, Hit, Need, ShortlistedDocument, Window
from iterative_rag.types.correcting import scored

NEED = Need("Which mast is the tallest?")
FILLER = "".join(f"Sentence {n} is about the weather, as ever. " for n in range(40))
TABLE = "## Masts\n| Mast | Height |\n| --- | --- |\n" + "".join(f"| Mast {n} | {400 - n} m |\n" for n in range(60))
TEXT = f"# Masts\n\n{FILLER}\n\nThe key mast is Velm Mast.\n\n{FILLER}\n\n{TABLE}\n{FILLER}\nThe key to it was lost.\n"


@dataclass
class Marking:
    """Grades by a rule; remembers what it was given."""

    rule: Callable[[str], float]
    asked: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        self.calls += 1
        self.asked += texts
        return tuple(scored(self.rule(text), "") for _, text in texts)


def refine(need: Need, seen: Window, grader: Grader, lower: float) -> tuple[Window, int, int]:
    """One window by itself."""
    refined = Refiner(grader, lower).refine(need, [seen])
    return refined.windows[0], refined.kept, refined.dropped


def whole(text: str) -> Window:
    return Window("d", "Masts", "masts.md", ((0, len(text)),), text)


def holds(seen: Window, text: str) -> bool:
    """Whether a window is the parts of the document that its spans say, in order and apart, with a sign behind a table
    that goes on, and nowhere else."""
    ordered = all(a[1] < b[0] for a, b in zip(seen.spans, seen.spans[1:], strict=False))
    parts = GAP.join(text[start:end] for start, end in seen.spans)
    if not is_cut(seen):
        return ordered and seen.text == parts
    end = seen.spans[-1][1]
    return ordered and seen.text == as_cut(parts) and "|\n|" in text[end - 2 : end + 2]


def test_strips_that_do_not_serve_are_dropped_and_quotes_are_still_found() -> None:
    grader = Marking(lambda text: 0.9 if "key" in text else 0.1)
    refined, kept, dropped = refine(NEED, whole(TEXT), grader, 0.3)
    assert holds(refined, TEXT)
    assert "Velm Mast" in refined.text
    assert "lost" in refined.text
    assert len(refined.text) < len(TEXT) / 3
    assert kept + dropped == len(strips(whole(TEXT)))
    assert 1 < kept < dropped
    quote = "The key mast is Velm Mast."
    place = locate(quote, TEXT, refined.spans)
    assert place is not None
    assert TEXT[slice(*place)] == quote


def test_a_table_is_one_strip_with_its_heading_and_header() -> None:
    refined, kept, _ = refine(NEED, whole(TEXT), Marking(lambda text: float("Mast 31 " in text)), 0.3)
    assert kept == 1
    assert refined.text.strip() == TABLE.strip()
    assert holds(refined, TEXT)


def test_rows_far_from_their_header_keep_it_and_are_still_told_not_to_be_all() -> None:
    text = FILLER + "\n\n| Mast | Height |\n| --- | --- |\n" + "".join(f"| Mast {n} | {n} m |\n" for n in range(900))
    at = text.index("| Mast 700 |")
    entry = ShortlistedDocument(
        "d", "Masts", "m.md", 1.0, (Hit("d", "Masts", 5, 80, 1.0), Hit("d", "Masts", at, at + 60, 0.5))
    )
    seen = window(Document("d", "Masts", text, "m.md"), entry, 2000)
    assert len(seen.spans) == 3
    refined, _, dropped = refine(NEED, seen, Marking(lambda strip: float("Mast 700 " in strip)), 0.3)
    assert dropped > 0
    assert "| Mast | Height |" in refined.text
    assert "weather" not in refined.text
    assert holds(refined, text)
    assert refined.text.endswith("|\n[...]")
    without_table, _, _ = refine(NEED, seen, Marking(lambda strip: float("Sentence 1 " in strip)), 0.3)
    assert not is_cut(without_table)


def test_never_all_is_dropped() -> None:
    grader = Marking(lambda text: 0.2 if "Velm" in text else 0.1)
    refined, kept, dropped = refine(NEED, whole(TEXT), grader, 0.3)
    assert 1 <= kept <= 2
    assert "Velm Mast" in refined.text
    assert dropped > 10


def test_short_windows_and_good_ones_pass_as_they_are() -> None:
    short = whole("Velm. " * (SHORTEST // 6 - 1))
    grader = Marking(lambda text: 0.0)
    assert refine(NEED, short, grader, 0.3) == (short, 1, 0)
    assert grader.calls == 0
    refined, _, dropped = refine(NEED, whole(TEXT), Marking(lambda text: 0.3), 0.3)
    assert (refined, dropped) == (whole(TEXT), 0)


def test_all_windows_are_graded_in_one_go_and_come_back_in_order() -> None:
    other = Window("e", "Weather", "weather.md", ((0, len(FILLER)),), FILLER)
    short = whole("Velm.")
    grader = Marking(lambda text: float("key" in text or "Sentence 3 " in text))
    refined = Refiner(grader, 0.3).refine(NEED, [other, short, whole(TEXT)])
    assert grader.calls == 1
    assert [seen.document_id for seen in refined.windows] == ["e", "d", "d"]
    assert "Sentence 3 " in refined.windows[0].text
    assert "Sentence 30 " not in refined.windows[0].text
    assert refined.windows[1] == short
    assert {title.split(" > ")[0] for title, _ in grader.asked} == {"Weather", "Masts"}


PIECES = st.sampled_from(
    [
        "# Head\n",
        "A sentence. And one more! ",
        "| a | b |\n",
        "|---|---|\n",
        "\n",
        "\n\n",
        "* item one\n",
        "ünïcode… “x” ",
        "[...]\n",
        " ",
    ]
)


@given(
    pieces=st.lists(PIECES, min_size=120, max_size=300),
    hits=st.lists(st.floats(0, 1), min_size=1, max_size=3),
    seed=st.integers(0, 2**30),
)
def test_every_strip_is_the_documents_text_at_its_span(pieces: list[str], hits: list[float], seed: int) -> None:
    text = "".join(pieces)
    found = tuple(Hit("d", "T", int(at * (len(text) - 1)), int(at * (len(text) - 1)) + 20, 1.0) for at in hits)
    seen = window(Document("d", "T", text, "t.md"), ShortlistedDocument("d", "T", "t.md", 1.0, found), 1500)
    own = strips(seen)
    for strip in own:
        assert strip.text == "\n".join(text[start:end] for start, end in strip.spans)
    # Nothing is lost but white space, and nothing is told twice.
    assert "".join("".join(strip.text.split()) for strip in own) == "".join(
        "".join(text[a:b].split()) for a, b in seen.spans
    )
    refined, kept, dropped = refine(
        NEED, seen, Marking(lambda strip: (crc32(f"{seed}{strip}".encode()) % 10) / 10), 0.5
    )
    assert holds(refined, text)
    assert is_cut(refined) == (is_cut(seen) and refined.spans[-1][1] >= own[-1].spans[-1][1])
    assert kept >= 1
    if len(seen.text) >= SHORTEST:
        assert kept + dropped == max(1, len(own))
