"""The progress of indexing: rate and time left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakes.command_line import TerminalCommand
from iterative_rag.cli.live import in_lines, indexed
from iterative_rag.index.indexing_progress import Progress, ProgressMeter
from iterative_rag.sources.folder import Folder


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (Progress(1200, 2460, 31000, 212.4, 95.0), "1,200 of 2,460 documents, 31,000 passages, 212/s, 1:35 left"),
        (Progress(3, None, 8, 0.0, None), "3 documents, 8 passages, 0/s"),
        (Progress(0, 1, 164, 10.3, 17112.0), "0 of 1 document, 164 passages, 10/s, 4:45:12 left"),
    ],
)
def test_progress_says_rate_and_time_left(at: Progress, shown: str) -> None:
    assert ", ".join(indexed(at)) == shown


class Clock:
    """Time that passes where a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_time_left_comes_two_seconds_after_the_first_passages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Progress] = []
    clock = Clock(monkeypatch)
    (tmp_path / "one.txt").write_text("One.")
    meter = ProgressMeter([Folder(tmp_path / "one.txt")], seen.append)
    meter.taken(1001)
    for clock.now, passages in ((9.0, 1), (10.0, 51), (11.0, 201), (13.0, 401)):  # nine seconds went into the start
        meter.show(passages)
    assert [at.seconds_left for at in seen] == [None, None, 8.0, 6.0]
    assert [at.expected for at in seen] == [1001.0] * 4
    assert seen[-1].passages_per_second == 100.0


def test_a_large_text_counts_as_its_parts(tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(63_000_000)
    (tmp_path / "short.txt").write_text("Short.")
    assert Folder(tmp_path).total == 9


@pytest.mark.parametrize("width", [80, 60, 40, 10])
def test_all_figures_stay_on_a_narrow_terminal(width: int) -> None:
    lines = in_lines(indexed(Progress(1200, 2460, 31000, 212.4, 95.0)), width)
    assert max(map(len, lines)) <= width
    if width >= 40:
        said = "1,200 of 2,460 documents, 31,000 passages, 212/s, 1:35 left"
        assert " ".join(lines) == said


def test_one_large_file_is_shown_by_its_passages(on_a_terminal: TerminalCommand, tmp_path: Path) -> None:
    paragraphs = (f"Paragraph {n} tells of bridge {n} and its river, which is deep. " * 8 for n in range(60))
    (tmp_path / "big.txt").write_text("\n\n".join(paragraphs))
    written = on_a_terminal(["index", "big.txt", "--corpus", "big"], columns=40)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    assert re.search(r"indexing 0 of 1 document, [1-9]\d* passages?,\r\n\d+/s", plain)
