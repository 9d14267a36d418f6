"""A corpus may have any name that people give things; its folder stays safe on every file system."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag.app.factory import corpora
from iterative_rag.index.corpus_names import decoded, encoded

NAMES = ["My Towns", "Städte & Dörfer", "Реки", "東京の資料", "R.E.M.", "d'Orsay (2nd ed.)", "CON", "café"]


def names(run: Command) -> list[str]:
    return [one["name"] for one in json.loads(run("corpus", "--json").out)["corpora"]]


@pytest.mark.parametrize("name", ["My Towns", "Реки", "con"])
def test_a_corpus_of_any_name_is_made_asked_listed_and_removed(run: Command, articles: Path, name: str) -> None:
    assert run("index", "articles", "--corpus", name).code == 0
    assert names(run) == [name]
    found = run("search", "Aldermere", "--corpus", name)
    assert found.code == 0
    assert "Aldermere" in found.out
    [folder] = [path.name for path in corpora().root.iterdir()]
    assert folder.isascii()
    assert folder == folder.lower() != "con"
    other = run("search", "Aldermere", "--corpus", name.swapcase())
    assert other.code == 4
    assert f"Did you mean {name!r}?" in other.err
    assert f"--corpus {shlex.quote(name.swapcase())}" in other.err
    assert run("corpus", "remove", name, "--yes").code == 0
    assert names(run) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_leads_back_to_its_name(name: str) -> None:
    assert decoded(encoded(name)) == name
    assert not set(encoded(name)) & set('<>:"/\\|?*%. ')


@pytest.mark.parametrize(
    "name", ["", " ", "../up", "a/b", "a\\b", ".hidden", "a\nb", "a\u200bb", "-option", "=41", "a:b", "x" * 200]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    from iterative_rag.errors import UsageError

    with pytest.raises(UsageError):
        corpora().folder(name)
    assert not corpora().root.exists()
