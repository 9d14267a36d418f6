"""A number and its noun agree, also where there is just one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import iterative_rag
from iterative_rag.errors import CorpusError
from iterative_rag.text.plurals import counted

PACKAGE = Path(iterative_rag.__file__).parent


def test_one_is_singular_and_everything_else_plural() -> None:
    assert [counted(n, "window") for n in (0, 1, 2, 1200)] == ["0 windows", "1 window", "2 windows", "1,200 windows"]
    assert [counted(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]


def test_a_single_file_that_cannot_be_read_is_not_all_1_files(tmp_path: Path) -> None:
    from iterative_rag.app.factory.corpus_actions import index_paths
    from iterative_rag.settings import Settings

    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "Broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"the only file or line was skipped\."):
        index_paths([tmp_path / "articles"], settings=Settings(), corpus="mine")


def test_no_text_chooses_a_plural_by_itself() -> None:
    """Where a noun depends on a number, `counted` writes both."""
    by_hand = re.compile(r"""'s' if|"s" if""")
    own = [path for path in PACKAGE.rglob("*.py") if by_hand.search(path.read_text(encoding="utf-8"))]
    allowed = {"plurals.py"}
    assert {path.name for path in own} - allowed == set()
