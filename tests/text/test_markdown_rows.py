"""Rows of Markdown tables: their cells stand where the offsets say."""

from __future__ import annotations

import pytest

from iterative_rag.text.markdown_rows import is_row, is_rule, row_cells


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
