"""Questions made to train the heads that recognize plain facts: labels and places of names are right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.builtin.question.wording import HEADS, Act

ROOT = Path(__file__).parent.parent
NAMES = {"p": ["Ann Lee", "Bo Orm"], "w": ["Low Tide", "Harvest Lantern"], "t": ["Selmouth", "Upper Brandell"]}


def made(folder: Path, *, seed: int = 3) -> list[dict[str, Any]]:
    (folder / "names.json").write_text(json.dumps(NAMES), encoding="utf-8")
    arguments = [str(folder / "names.json"), "--count", "2000", "--seed", str(seed)]
    command = [sys.executable, "-m", "scripts.train.wording_made", *arguments]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8").stdout
    return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return made(tmp_path_factory.mktemp("made"))


def test_every_class_of_a_made_question_is_one_of_its_head(questions: list[dict[str, Any]]) -> None:
    assert {one["act"] for one in questions} == set(Act)
    for one in questions:
        said = (one["act"], one["attribute"], one["relation"], one["further"])
        assert one["act"] == Act.OTHER or all(part in head for part, head in zip(said, HEADS, strict=True))


def test_the_marked_places_hold_the_names_and_nothing_is_left_to_fill(questions: list[dict[str, Any]]) -> None:
    for one in questions:
        assert not any(sign in one["question"] for sign in "{}<>"), one
        for start, end in one["names"]:
            named = one["question"][start:end].lower()
            assert any(name.lower() in named for names in NAMES.values() for name in names), one
        if one["act"] != Act.OTHER:
            assert len(one["names"]) >= (1 if one["act"] == Act.LOOKUP else 2)


def test_the_same_seed_makes_the_same_questions(questions: list[dict[str, Any]], tmp_path: Path) -> None:
    assert made(tmp_path) == questions != made(tmp_path, seed=4)
