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


def test_two_articles_that_answer_together_do_not_with_another_in_place_of_one(folder: Path) -> None:
    """What leads to the answer and what holds it are shown together; either of them beside a third does not answer."""

    def said(title: str, text: str, *, supporting: bool) -> dict[str, Any]:
        return {"title": title, "text": f"{text} It has two lamps.", "supporting": supporting}

    rows = [
        {
            "id": leading,
            "question": f"Who built the tower across the bay from {leading}?",
            "answer": f"Ann {holding.title()}",
            "type": "bridge",
            "paragraphs": [
                said(leading, f"{leading} faces {holding} across the bay.", supporting=True),
                said(holding, f"{holding} was built by Ann {holding.title()}.", supporting=True),
                *(said(title, f"{title} was built by Per Lund.", supporting=False) for title in TITLES[3:7]),
            ],
        }
        for leading, holding in zip(TITLES[10::2], TITLES[11::2], strict=True)
    ]
    write_rows(folder / "multihop/hotpotqa_train.jsonl", rows)
    command = [sys.executable, "-m", "scripts.train.evidence.make_rows", "--data", str(folder), "--epochs", "0"]
    subprocess.run([*command, "--out", str(folder)], cwd=ROOT, check=True, capture_output=True)
    lines = (folder / "measure_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    drawn = [row for row in map(json.loads, lines) if not row["value"]]
    right = [row for row in drawn if row["source"] == "pair"]
    for row in right:
        text = row["shown"]["text"]
        leading = row["question"].removesuffix("?").split("from ")[1]
        ((start, end),) = row["shown"]["spans"]
        assert leading in text
        assert text[start:end].startswith("Ann ")
    wrong = [row for row in drawn if row["source"] == "other:pair"]
    assert right
    assert wrong
    assert [row["answerable"] for row in right + wrong] == [1] * len(right) + [0] * len(wrong)
    assert not any(row["shown"]["spans"] for row in wrong)
    assert any("by Ann" in row["shown"]["text"] for row in wrong), "the holder beside a third article"
