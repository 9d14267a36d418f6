"""Numbers and texts as reports show them."""

from __future__ import annotations

import pytest

from iterative_rag.evaluation.report.formatting import number, percent, visible
from iterative_rag.evaluation.report.markdown_report import escaped


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (3.0, "3"), (1.234, "1.23"), (56.78, "56.8"), (12345.6, "12,346"), (None, "–")]
)
def test_numbers_have_as_many_digits_as_one_reads(value: float | None, shown: str) -> None:
    assert number(value) == shown


def test_texts_are_one_line_and_cut() -> None:
    assert visible(" a\n\tb\x00c ") == "a b\ufffdc"
    assert visible("abcdef", 4) == "abc…"
    assert percent(0.12345) == "12.3\u00a0%"
    assert escaped("1 * 2") == r"1 \* 2"
    assert escaped("questions_dev (FRAMES)") == "questions_dev (FRAMES)"
    assert escaped("_so_ [a](b) a__") == r"\_so\_ \[a\](b) a_\_"
