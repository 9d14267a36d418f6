"""Chunking: nothing is lost, offsets are exact, sizes are bounded, cuts lie at sentence ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.retrieval.chunking import chunk, sentences
from iterative_rag.types import Document, Passage

# Lines that mean something to the chunker, and some that only look so.
LINES = st.sampled_from(
    [
        "",
        "   ",
        "# Title",
        "## A section",
        "=== Wiki ===",
        "History",
        "| a | b |",
        "|---|---|",
        "| 1 | Mr. Smith. Jr. |",
        "- an item. Two sentences.",
        "12. twelfth",
        "He was born in St. Paul. It rained! Why?",
        "a line that was wrapped somewhere in the middle of the sentence so that it",
        "東京は首都です。人口は多い。",
        "x" * 90,
        "...!?\" ''",
        "e.g. U.S. No. 5 J. R. R.",
        "\t tab\u00a0nbsp\u2003em",
    ]
)
TEXTS = st.one_of(st.lists(LINES, max_size=30).map("\n".join), st.text(max_size=400))


def passages_of(text: str, size: int = 500, overlap: int = 80, title: str = "A Title") -> list[Passage]:
    return chunk(Document("id", title, text, "source"), size=size, overlap=overlap)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, size=st.integers(1, 120), share=st.integers(0, 9))
def test_passages_cover_the_text_within_bounds(text: str, size: int, share: int) -> None:
    overlap = size * share // 10
    passages = passages_of(text, size, overlap)
    covered = 0
    for number, passage in enumerate(passages):
        assert passage.ordinal == number
        assert passage.text == text[passage.start : passage.end]
        assert 0 < len(passage.text) <= size
        assert passage.text == passage.text.strip()
        assert not text[covered : passage.start].strip()
        if number:
            before = passages[number - 1]
            assert before.start < passage.start
            assert before.end < passage.end
            assert before.end - passage.start <= overlap
        covered = passage.end
    assert not text[covered:].strip()


def spoken(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["J. Edgar is a 2011 film.", "Clint Eastwood directed it."],
        ["He moved to the U.S. in 1950.", "Then the U.S. Senate met."],
        ["She lived in the U.S.", "He did not."],
        ["St. John's is near Mt. Pearl.", "Dr. Smith of Foo Inc. agreed."],
        ["George H. W. Bush won.", 'He said "Stop."', "Then he left."],
        ["On Jan. 5, 1999, it rose by 3.5 percent.", "See p. 5 and No. 7."],
        ["He was born c. 1950 (d. 1990).", "J. R. R. Tolkien wrote it...", "Who?!", "Nobody."],
        ["Washington, D.C. is the capital.", "World War I.", "The war ended."],
        ["東京は日本の首都です。", "人口は多い。"],
    ],
)
def test_sentence_ends(expected: list[str]) -> None:
    separator = "" if expected[0].endswith("。") else " "
    assert spoken(separator.join(expected)) == expected


def test_headings_rows_and_items_are_sentences_of_their_own() -> None:
    table = "| River | Km |\n|---|---|\n| Po. Delta | 652 |"
    text = f"# Rivers\n\nHistory\nIt is old. Very old.\n\n{table}\n\n- One. Two.\n3) Three"
    assert spoken(text) == [
        "# Rivers",
        "History",
        "It is old.",
        "Very old.",
        "| River | Km |",
        "| Po. Delta | 652 |",
        "One.",
        "Two.",
        "Three",
    ]


def test_cuts_lie_at_sentence_ends_and_short_sentences_overlap() -> None:
    numbered = [f"Sentence number {n} stands here." for n in range(60)]
    passages = passages_of(" ".join(numbered), size=200, overlap=80)
    assert all(passage.text.startswith("Sentence") and passage.text.endswith("here.") for passage in passages)
    for before, after in pairwise(passages):
        assert 30 <= before.end - after.start <= 80


def test_the_header_carries_title_and_section_path() -> None:
    filler = "Some words about it that fill the line well enough. " * 4
    text = f"# Lyon\n\n{filler}\n\n## History\n\n{filler}\n\n### Romans\n\n{filler}\n\n## Sport\n\n{filler}"
    headers = [passage.header for passage in passages_of(text, 300, 0, title="Lyon")]
    assert headers == ["Lyon", "Lyon > History", "Lyon > History > Romans", "Lyon > Sport"]


def test_long_tables_are_cut_by_rows_and_repeat_their_header() -> None:
    rows = "\n".join(f"| Building {n} | {n * 10} m |" for n in range(100))
    text = f"Intro.\n\n| Name | Height |\n|---|---|\n{rows}\n\nAfter the table. " + "More follows here. " * 30
    passages = passages_of(text, 300, 50)
    inside = [passage for passage in passages if passage.text.startswith("| Building")]
    assert len(inside) > 5
    for passage in inside:
        assert passage.header == "A Title\n| Name | Height |\n|---|---|"
        assert passage.embedded_text.startswith(passage.header)
    table = [line for passage in passages for line in passage.text.split("\n") if line.startswith("| B")]
    assert table == rows.split("\n")
    assert "Height" not in passages[-1].header


@pytest.mark.parametrize("pattern", ["word ", ".", "x", "|-", 'a."', "= ", "\n", "# "])
def test_a_huge_line_is_cut_in_linear_work(pattern: str) -> None:
    """A quadratic step would take hours here, not seconds: this hangs rather than fails by a clock."""
    text = pattern * (2_000_000 // len(pattern))
    assert sum(len(passage.text) for passage in passages_of(text, 500, 0)) <= len(text)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_impossible_sizes_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        passages_of("text", size, overlap)
