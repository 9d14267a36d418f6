"""The progress of indexing: rate and time left."""

from __future__ import annotations

import pytest

from iterative_rag.cli.progress import where
from iterative_rag.index.indexing_progress import Progress


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (Progress(1200, 2460, 31000, 212.4, 95.0), "1,200 of 2,460 documents, 31,000 passages, 212/s, 1:35 left"),
        (Progress(3, None, 8, 0.0, None), "3 documents, 8 passages, 0/s"),
    ],
)
def test_progress_says_rate_and_time_left(at: Progress, shown: str) -> None:
    assert where(at) == shown
