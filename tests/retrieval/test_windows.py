"""What is read of a document around its hits."""

from __future__ import annotations

import pytest

from iterative_rag.retrieval.windows import window
from iterative_rag.types import Document, Hit, ShortlistedDocument, Window

BEFORE = (
    "".join(f"Sentence {n} says nothing about masts. " for n in range(300)) + "\n\n## Masts\n\nAll masts by height.\n\n"
)
AFTER = "\nNo mast was built later.\n" + "".join(f"Later sentence {n} says as little. " for n in range(300))
HEADER = "| Mast | Height |\n| --- | --- |\n"


def table(rows: int) -> str:
    return HEADER + "".join(f"| Mast {n} | {400 - n} m |\n" for n in range(rows))


def seen(text: str, *hits: tuple[int, int], size: int = 1500) -> Window:
    found = tuple(Hit("d", "Masts", start, end, 0.1) for start, end in hits)
    read = window(
        Document("d", "Masts", text, "masts.md"), ShortlistedDocument("d", "Masts", "masts.md", 1.0, found), size
    )
    for start, end in read.spans:
        assert text[start:end] in read.text
    return read


def row(text: str, number: int) -> tuple[int, int]:
    start = text.index(f"| Mast {number} |")
    return start, start + 60


def test_a_table_is_read_whole_with_what_introduces_it() -> None:
    text = BEFORE + table(150) + AFTER
    read = seen(text, row(text, 70))
    assert all(f"| Mast {n} |" in read.text for n in range(150))
    assert "## Masts" in read.text
    assert len(read.text) < 3 * 1500 + 1500


def test_a_table_that_is_too_long_is_read_around_the_hit_with_its_header() -> None:
    text = BEFORE + table(900) + AFTER
    read = seen(text, row(text, 700))
    assert HEADER in read.text
    assert "| Mast 700 |" in read.text
    assert "| Mast 400 |" not in read.text
    assert len(read.text) < 1600


def test_the_table_of_the_best_hit_leaves_the_other_hits_their_room() -> None:
    text = BEFORE + table(150) + AFTER
    prose = text.index("Later sentence 200 ")
    read = seen(text, row(text, 70), (prose, prose + 60))
    assert "Later sentence 200 " in read.text
    assert "| Mast 149 |" in read.text


def test_a_second_table_is_whole_only_where_there_is_room() -> None:
    for rows, size, whole in ((30, 2600, True), (150, 2600, False)):
        text = BEFORE + AFTER + table(rows) + AFTER
        prose = text.index("Later sentence 20 ")
        read = seen(text, (prose, prose + 60), row(text, 7), size=size)
        assert sum(end - start for start, end in read.spans) <= size
        assert "Later sentence 20 " in read.text
        assert HEADER in read.text
        assert "| Mast 7 |" in read.text
        assert (f"| Mast {rows - 1} |" in read.text) is whole


@pytest.mark.parametrize("end", ["", "\n", "|", "\n|"])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_table_at_the_edge_of_the_text(rows: int, end: str) -> None:
    text = table(rows) + BEFORE + table(rows).rstrip("\n") + end
    for start in (0, len(text) - 1, text.rindex("| Mast")):
        read = seen(text, (start, len(text)), size=400)
        assert read.text
        assert all(0 <= begin < stop <= len(text) for begin, stop in read.spans)


def test_a_hit_that_reaches_past_the_end_of_its_document_is_read_up_to_there() -> None:
    text = "A line of text.\n" * 400
    seen = window(
        Document("d", "T", text, "t.md"),
        ShortlistedDocument("d", "T", "t.md", 1.0, (Hit("d", "T", len(text) - 5, len(text) + 20, 1.0),)),
        1500,
    )
    assert seen.spans[-1][1] == len(text)
