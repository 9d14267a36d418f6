"""The subsets of FRAMES: what ships, and how its questions are found in whatever file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.datasets.frames_subsets import digest_of, ids_of, size_of
from iterative_rag.evaluation.questions import Dataset, Question


def dataset(*questions: tuple[str, str]) -> Dataset:
    return Dataset("made", "FRAMES", "0", tuple(Question(name, text, ("x",)) for name, text in questions))


def test_the_list_that_ships_holds_sixty_numbers_and_no_text() -> None:
    text = resources.files("iterative_rag.evaluation.datasets").joinpath("frames_60.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert len({number for number, _ in rows}) == len({digest for _, digest in rows}) == 60
    assert all(0 <= int(number) < 824 for number, _ in rows)
    assert all(len(digest) == 12 and int(digest, 16) >= 0 for _, digest in rows)
    assert size_of(dataset(), "60") == 60


def test_a_question_is_known_by_its_words_whatever_its_number(tmp_path: Path) -> None:
    place = tmp_path / "ids.tsv"
    place.write_text(f"7\t{digest_of('Who lit the lamp?')}\n", encoding="utf-8")
    made = dataset(("7", "Another question?"), ("q-1", "Who  lit the lamp"), ("8", "A third?"))
    assert ids_of(made, str(place)) == ("q-1",)
    place.write_text("8\n", encoding="utf-8")
    assert ids_of(made, str(place)) == ("8",)
    assert ids_of(made, "all") == ("7", "q-1", "8")


def test_what_is_no_subset_says_so(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(b"7\n\xff\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        ids_of(dataset(("7", "Who?")), str(tmp_path / "ids.txt"))
    with pytest.raises(UsageError, match="no subset 'sixty'") as raised:
        ids_of(dataset(("1", "Who?")), "sixty")
    assert "60, all" in raised.value.hint
    with pytest.raises(UsageError, match="holds no question of the subset 60"):
        ids_of(dataset(("1", "Who?")), "60")
