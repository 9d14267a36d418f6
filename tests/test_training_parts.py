"""What a model is measured on is never what it was trained on: the parts that the training data is dealt into."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TITLES = [f"{a}{b}{c} lighthouse" for a in "BDFGK" for b in ("al", "er", "in", "os") for c in "dfgkmnprst"]
KEPT = TITLES[:3]
# Files that the rows are made of beside those with questions on lighthouses; nothing is in them.
EMPTY = ("reading/popqa", "multihop/2wiki_train", "multihop/musique_train", "multihop/hotpotqa_train")


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def reading_row(title: str, question: str) -> dict[str, Any]:
    return {
        "title": title,
        "question": question,
        "context": f"{question} It has two lamps.",
        "source": "s",
        "answers": [],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder in which each article stands in several datasets, under titles that are written differently."""
    reading = [reading_row(title.replace(" ", "_"), f"How high is {title}?") for title in TITLES]
    more = [reading_row(title, f"Who built {title}?") for title in TITLES]
    more += [reading_row("", f"Where is {title}?") for title in TITLES]
    boolq = [reading_row(title.upper(), f"is {title} white") | {"answer": "yes"} for title in TITLES]
    paragraphs = [{"title": title, "text": "", "supporting": True} for title in KEPT]
    write_rows(tmp_path / "reading/reading_train.jsonl", reading)
    write_rows(tmp_path / "reading/reading_train_2.jsonl.gz", more)
    write_rows(tmp_path / "reading/boolq.jsonl.gz", boolq)
    for name in (*EMPTY, "decomposition/strategyqa_train"):
        write_rows(tmp_path / f"{name}.jsonl", [])
    write_rows(tmp_path / "multihop/hotpotqa_dev.jsonl", [{"id": "x", "question": "?", "paragraphs": paragraphs}])
    return tmp_path


def dealt(folder: Path, out: str) -> dict[str, set[str]]:
    """The ids of each part."""
    command = [sys.executable, "-m", "scripts.train.evidence.aside", "--starter", str(folder / "none")]
    subprocess.run([*command, "--data", str(folder), "--out", str(folder / out)], cwd=ROOT, check=True)
    return {part: set((folder / out / f"{part}.txt").read_text().split()) for part in ("train", "aside", "kept")}


def test_an_article_is_trained_on_or_measured_never_both(folder: Path) -> None:
    found = dealt(folder, "all")
    assert all(found.values())
    assert not found["train"] & found["aside"]
    assert not found["train"] & found["kept"]
    assert not found["aside"] & found["kept"]
    counts = json.loads((folder / "all/parts.json").read_text())["rows"]
    # Every article stands once in these two files, under differently written titles: so it is dealt alike in both.
    assert counts["reading/reading_train.jsonl"] == counts["reading/boolq.jsonl.gz"]
    assert counts["reading/boolq.jsonl.gz"]["kept"] == len(KEPT)
    # Texts without a title that name an article which is not trained on are left out.
    assert counts["reading/reading_train_2.jsonl.gz"]["train"] == 2 * counts["reading/boolq.jsonl.gz"]["train"]


def test_one_command_trains_every_part_in_order() -> None:
    """A part renamed or removed would be found only after hours of training."""
    named = [
        name
        for script in ("all", "refit")
        for name in re.findall(r"-m (scripts[\w.]+)", (ROOT / "scripts/train" / script).read_text("utf-8"))
    ]
    missing = [name for name in named if not (ROOT / f"{name.replace('.', '/')}.py").is_file()]
    order = [named.index(f"scripts.train.{part}") for part in ("train_encoder", "train_splitter", "evidence.train")]
    assert missing == []
    assert order == sorted(order)
