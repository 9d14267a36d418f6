"""JSON Lines: a malformed line is named by its number, the others are kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from iterative_rag.protocols import Skipped
from iterative_rag.sources import open_source
from iterative_rag.sources.formats.json_file import JsonLines
from iterative_rag.types import Document


def row(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_rows_become_documents(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pages{suffix}"
    data = (
        row(title="One", text="Text one.\r\nMore.", url="https://x/1") + b"\n" + row(title=" Two ", passage="Text two.")
    )
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    source = open_source(path)
    one, two = source.documents()
    assert isinstance(one, Document)
    assert isinstance(two, Document)
    assert (one.title, one.text, one.url, one.source) == ("One", "Text one.\nMore.", "https://x/1", f"{path}:1")
    assert (two.title, two.text, two.url, two.source) == ("Two", "Text two.", None, f"{path}:3")


BAD = {
    "not JSON": b'{"title": "half',
    "not a JSON object": b"[1, 2]",
    'no "text"': row(title="x", text=None),
    'no "text" or': row(title="x", text="  "),
    "not JSON:": b"\xff\xfe{",
    "is not JSON": b"[" * 100_000,
}


@pytest.mark.parametrize("reason", BAD)
def test_a_malformed_line_is_named_and_the_others_kept(tmp_path: Path, reason: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(row(title="a", text="A") + BAD[reason].rstrip(b"\n") + b"\n" + row(title="b", text="B"))
    first, bad, last = JsonLines(path).documents()
    assert isinstance(first, Document)
    assert isinstance(last, Document)
    assert isinstance(bad, Skipped)
    assert bad.source == f"{path}:2"
    assert reason in bad.reason
    assert len(bad.reason) < 200


def test_ids_are_stable_and_differ_between_records_of_one_key(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    twice = row(title="T", text="one") + row(title="T", text="two") + row(title="T", text="three", url="u")
    path.write_bytes(twice)
    ids = [item.id for item in JsonLines(path).documents() if isinstance(item, Document)]
    assert len(set(ids)) == 3
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(row(title="Before", text="x") + twice)
    assert [item.id for item in JsonLines(moved).documents() if isinstance(item, Document)][1:] == ids
