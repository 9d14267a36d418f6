"""What the reader of values makes of every text of the table."""

from __future__ import annotations

import pytest

from iterative_rag.text.mentions import mentions
from tests.text.table import Row, rows


def test_the_table_is_large_and_of_many_kinds() -> None:
    assert len(rows()) >= 400
    assert len({(row.code, row.kind) for row in rows()}) >= 30


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.code}: {row.text}")
def test_a_text_means_what_the_table_says(row: Row) -> None:
    assert "; ".join(map(str, mentions(row.text, row.code))) == row.meaning
