"""More than a hundred files that do harm: none ends the run, each is a document or says why it is none.

Their full sizes, and the memory that they take, are measured by scripts/bench_hostile_files.py.
"""

from __future__ import annotations

import os
from collections import defaultdict

import pytest

from fakes import hostile_files
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document

FILES = hostile_files.files()
Outcome = dict[str, list[Document | Skipped]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What became of each file, by its name; all in one folder, as a user would have them."""
    folder = tmp_path_factory.mktemp("hostile")
    for one in FILES:
        one.make(folder / one.name, hostile_files.SMALL)
    outcome: Outcome = defaultdict(list)
    try:
        for item in Folder(folder, limits=Limits(seconds=60)).documents():
            name = item.source.removeprefix(f"{folder}/")
            name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
            outcome[name.split("/")[0]].append(item)
    finally:
        hostile_files.remove(folder)
    return outcome


def test_there_are_a_hundred() -> None:
    assert len({one.name for one in FILES}) >= 100


@pytest.mark.parametrize("one", FILES, ids=lambda one: ascii(os.fsencode(one.name))[2:-1])
def test_each_is_a_document_or_has_its_reason(found: Outcome, one: hostile_files.Hostile) -> None:
    items = found[shown(one.name)]
    assert items, "it vanished without a word"
    documents = [item for item in items if isinstance(item, Document)]
    reasons = [item.reason for item in items if isinstance(item, Skipped)]
    for document in documents:
        (document.title + document.text + document.source).encode()  # what stores them takes no half characters
        assert document.text.strip()
        assert "\0" not in document.text
        assert "\n" not in document.title
        assert list(document.pages) == sorted(document.pages)
    assert len({item.id for item in documents}) == len(documents)
    for reason in reasons:
        assert reason.endswith(".")
        assert len(reason) < 250
    if one.reason == hostile_files.READ:
        assert documents
        assert not reasons
    elif one.reason != hostile_files.ANY:
        assert any(one.reason in reason for reason in reasons)


def test_nothing_outside_the_folder_is_read(found: Outcome) -> None:
    texts = [item.text for items in found.values() for item in items if isinstance(item, Document)]
    assert not any("root:" in text for text in texts)


def test_a_million_bad_records_are_not_a_million_lines(found: Outcome) -> None:
    *first, last = found["numbers.json"]
    assert len(first) == 100
    assert isinstance(last, Skipped)
    assert "299,901 more" in last.reason
