"""Files that do harm, of some seventy kinds: none ends the run, each is a document or says why it is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

from fakes import hostile_files
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

FILES = hostile_files.files()
Outcome = dict[str, list[Document | Skipped]]


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> list[hostile_files.Hostile]:
    """All of them with --nightly, else each second."""
    return FILES if request.config.getoption("nightly") else FILES[::2]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, played: list[hostile_files.Hostile]) -> Outcome:
    """What became of each file, by its name; all in one folder, as a user would have them."""
    folder = tmp_path_factory.mktemp("hostile")
    for one in played:
        one.make(folder / one.name)
    outcome: Outcome = defaultdict(list)
    try:
        for item in Folder(folder, limits=Limits(seconds=60)).documents():
            name = as_field(item.source).removeprefix(f"{folder}/").partition(", part ")[0].strip()
            name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
            outcome[name.split("/")[0]].append(item)
    finally:
        if (folder / "deep").is_dir():
            hostile_files.remove(folder)
    return outcome


def test_each_is_a_document_or_has_its_reason(found: Outcome, played: list[hostile_files.Hostile]) -> None:
    """One test for all: as one each, several workers would make and read all of the files."""
    failed = {one.name: fault for one in played if (fault := fault_of(one, found[as_field(shown(one.name))]))}
    assert failed == {}


def fault_of(one: hostile_files.Hostile, items: Sequence[Document | Skipped]) -> str:
    """What is wrong with the outcome of a file; "" if nothing is."""
    documents = [item for item in items if isinstance(item, Document)]
    reasons = [item.reason for item in items if isinstance(item, Skipped)]
    faults = {
        "it vanished without a word": not items,
        "a document cannot be stored": not all(map(is_storable, documents)),
        "two documents have one id": len({item.id for item in documents}) < len(documents),
        f"no short sentence: {reasons}": not all(one.endswith(".") and len(one) < 250 for one in reasons),
    }
    if one.reason == hostile_files.READ:
        faults[f"it was not read: {reasons}"] = not documents or bool(reasons)
    elif one.reason != hostile_files.ANY:
        faults[f"another reason: {reasons}"] = not any(one.reason in reason for reason in reasons)
    return next((fault for fault, there in faults.items() if there), "")


def is_storable(document: Document) -> bool:
    stored, pages = document.title + document.text + document.source, list(document.pages)
    return (
        stored.encode(errors="ignore").decode() == stored  # what stores them takes no half characters
        and bool(document.text.strip())
        and "\0" not in document.text
        and "\n" not in document.title
        and pages == sorted(pages)
    )


def test_nothing_outside_the_folder_is_read(found: Outcome) -> None:
    texts = [item.text for items in found.values() for item in items if isinstance(item, Document)]
    assert not any("root:" in text for text in texts)


@pytest.mark.nightly
def test_a_million_bad_records_are_not_a_million_lines(found: Outcome) -> None:
    *first, last = found["numbers.json"]
    assert len(first) == 100
    assert isinstance(last, Skipped)
    assert "299,901 more" in last.reason
