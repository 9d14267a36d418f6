"""A file is indexed once, whatever paths lead to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fakes.command_line import Command


def documents(run: Command) -> int:
    [described] = json.loads(run("corpus", "--json").out)["corpora"]
    return int(described["documents"])


@pytest.mark.parametrize("path", ["articles/Aldermere.md", "link.md", "linked/Aldermere.md", "./articles/../articles"])
def test_a_file_of_an_indexed_folder_is_not_indexed_twice(run: Command, articles: Path, path: str) -> None:
    Path("link.md").symlink_to(articles / "Aldermere.md")
    Path("linked").symlink_to(articles)
    assert run("index", "articles", "--corpus", "mine").code == 0
    (articles / "Aldermere.md").write_text("# Aldermere\n\nAldermere was founded by Edda Holm in 1205.\n")
    again = run("index", path, "--corpus", "mine")
    assert again.code == 0, again.err
    assert "0 added, 1 changed, 1 unchanged, 0 removed" in again.out
    assert (f"belongs to {articles}" in again.err) == path.endswith(".md")
    assert documents(run) == 2


def test_a_folder_takes_over_what_was_indexed_by_itself(run: Command, articles: Path) -> None:
    (articles / ".hidden.md").write_text("# Hidden\n\nA hidden file that is given by itself stays.\n")
    for path in ("articles/Aldermere.md", "articles/.hidden.md"):
        run("index", path, "--corpus", "mine")
    before = documents(run)
    taken = run("index", "articles", "--corpus", "mine")
    assert "2 added, 0 changed, 0 unchanged, 1 removed" in taken.out
    assert documents(run) == before + 1


def test_one_command_may_name_a_file_twice(run: Command, articles: Path) -> None:
    done = run("index", os.path.join("articles", "Aldermere.md"), "articles", "--corpus", "mine")
    assert "2 added" in done.out
    assert documents(run) == 2
