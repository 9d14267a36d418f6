"""Outputs of the networks are cached, and a cached row that does not fit is ignored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from iterative_rag.builtin import networks
from iterative_rag.builtin.question.splitter import FACTS, NETWORK, Splitter
from iterative_rag.errors import WeightsError

FOLDER = Path(networks.__file__).parent / "weights"
QUESTION = "Where was the director of the film Harvest Lantern born?"


T = TypeVar("T")


class Rows:
    """A cache in memory that keeps JSON, as the one on disk does."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        try:
            return read(json.loads(self.rows[key])) if key in self.rows else None
        except ValueError:
            return None

    def put(self, key: str, value: Any) -> None:
        self.rows[key] = json.dumps(value)

    def close(self) -> None:
        """Nothing is open."""

    def change(self, value: Any) -> None:
        """Put `value` into every row."""
        self.rows = dict.fromkeys(self.rows, json.dumps(value))


def test_a_question_that_was_split_before_needs_no_network(tmp_path: Path) -> None:
    kept = Rows()
    fresh = Splitter().split(QUESTION)
    assert Splitter(cache=kept).split(QUESTION) == fresh
    shutil.copy(FOLDER / FACTS, tmp_path / FACTS)
    without_network = Splitter(weights=tmp_path, cache=kept)
    assert without_network.split(QUESTION) == fresh
    with pytest.raises(WeightsError, match=NETWORK):
        without_network.split("Who was Mira Dolvane?")


def test_a_row_that_does_not_fit_is_looked_up_anew() -> None:
    kept = Rows()
    fresh = Splitter(cache=kept).split(QUESTION)
    (good,) = (json.loads(row) for row in kept.rows.values())
    stretch = good["inner"][0]
    wrong: list[Any] = [
        [],
        "nested",
        7,
        {},
        {**good, "question": "Who else?"},
        {**good, "kind": "plural"},
        {**good, "probabilities": [1.0]},
        {**good, "probabilities": [float("nan"), 0.0, 0.0, 0.0]},
        {**good, "inner": [{**stretch, "end": 5000}]},
        {**good, "inner": [{**stretch, "start": stretch["end"]}]},
        {**good, "inner": [{**stretch, "form": "poem"}]},
    ]
    for row in wrong:
        kept.change(row)
        assert Splitter(cache=kept).split(QUESTION) == fresh, row
    assert [json.loads(row) for row in kept.rows.values()] == [good]
