"""Text without its Markdown, and the rows of Markdown tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.markdown_rows import is_row, is_rule, row_cells
from iterative_rag.text.markup import plain


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("| Mother | Eliza Ballou |", "Mother: Eliza Ballou"),
        ("Mother | Eliza Ballou", "Mother: Eliza Ballou"),  # a model's quote of the same row
        ("| 15 | Harriet Lane | niece |", "15 · Harriet Lane · niece"),
        ("| 15 | Harriet Lane | |", "15 · Harriet Lane"),
        ("| City | People |\n|---|---|\n| Orm | 900 |", "City: People\nOrm: 900"),
        ("| a \\| b | c |", "a | b: c"),
        ("**Prague** is *the* [capital](https://example.org/a_(b) \"t\") of `it`.", "Prague is the capital of it."),
        ("***both***, __bold__ and _slanted_", "both, bold and slanted"),
        ("half of it** is bold, **and so on", "half of it is bold, and so on"),
        ("## A heading\n- one\n* two\n> three", "A heading\none\ntwo\nthree"),
        ("```json\n{}\n```", "{}"),
        ("\\*not emphasised\\*", "*not emphasised*"),
    ],
)  # fmt: skip
def test_markup_is_left_out(written: str, shown: str) -> None:
    assert plain(written) == shown


@pytest.mark.parametrize(
    "text", ["2 * 3 * 4 = 24", "2**3", "a ** b", "snake_case_name", "- 5 °C", "P(A | B) = 1", "[1][2] say so", "5 - 3"]
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert plain(text) == text


@given(st.text(alphabet="ab |*_`[]()#>-\\\n1", max_size=60))
def test_any_text_can_be_shown(text: str) -> None:
    assert set(plain(text)) <= set(text) | set(" ·:")


# --- rows of tables -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| Old Bridge | 1872 |", ["Old Bridge", "1872"]),
        ("  |Old Bridge|  | 12 m |  ", ["Old Bridge", "", "12 m"]),
        (r"| Falel \| <1> | none |", ["Falel | <1>", "none"]),
        ("Old Bridge | 1872", ["Old Bridge", "1872"]),
        ("| a | b", ["a", "b"]),
        ("|", [""]),
    ],
)
def test_cells(line: str, cells: list[str]) -> None:
    found = row_cells(line)
    assert [cell.text for cell in found] == cells
    assert all(line[cell.start : cell.end].replace("\\|", "|") == cell.text for cell in found)


def test_what_is_a_row_and_what_a_rule() -> None:
    assert is_row("| a | b |")
    assert not is_row("a | b")
    assert not is_row("|")
    assert is_rule("|---|:-:|")
    assert is_rule("| --- | --- |")
    assert is_rule("|-|-|")
    assert not is_rule("| a | --- |")
    assert not is_rule("| - | - |")
