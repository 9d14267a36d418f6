"""Folders that mix formats: every suffix has a reader, and what is missing is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from iterative_rag.errors import install_command
from iterative_rag.protocols import Skipped
from iterative_rag.registry import FORMATS
from iterative_rag.sources import open_source
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import format_in_folder
from tests.sources.formats.reading import documents, mixed, reasons, written

# --- folders that mix them -------------------------------------------------------------------


def test_a_folder_may_mix_formats_and_ids_do_not_depend_on_its_place(tmp_path: Path) -> None:
    first, second = (documents(mixed(tmp_path / name)) for name in ("first", "second"))
    assert len(first) == 8
    assert len({one.id for one in first}) == 8
    assert [one.id for one in first] == [one.id for one in second]
    assert open_source(tmp_path / "first").total is None  # a table may be many documents


@pytest.mark.parametrize("module", ["pypdfium2", "lxml", "selectolax", "html_to_markdown"])
def test_without_the_extra_a_file_is_skipped_and_the_extra_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    folder = mixed(tmp_path / "mixed")
    monkeypatch.setitem(sys.modules, module, None)
    told = reasons(folder)
    assert told
    assert all(install_command("files") in reason for reason in told)


def test_every_suffix_has_a_reader(tmp_path: Path) -> None:
    names = [f"a{suffix}" for suffix in FORMATS.names if format_in_folder(f"a{suffix}")]
    for name in names:
        written(tmp_path / name, b"\0")
    skipped = {Path(item.source).name for item in Folder(tmp_path).documents() if isinstance(item, Skipped)}
    assert {*names} <= {name.partition(":")[0] for name in skipped}
