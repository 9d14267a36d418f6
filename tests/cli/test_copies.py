"""One text under several paths is one source: found once, cited once, its other paths named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command

QUESTION = "Who founded Aldermere?"


@pytest.fixture
def copied(run: Command, articles: Path) -> Path:
    """The articles with copies under other names, one of them a text with another title."""
    text = (articles / "Aldermere.md").read_text(encoding="utf-8")
    (articles / "backup").mkdir()
    (articles / "backup" / "Old_aldermere.md").write_text(text, encoding="utf-8")
    (articles / "Third.md").write_text(f"---\ntitle: Third title\n---\n{text}", encoding="utf-8")
    assert run("index", "articles", "--corpus", "mine").code == 0
    return articles


def test_a_copied_text_is_cited_once(run: Command, copied: Path) -> None:
    asked = (QUESTION, "--corpus", "mine", "--llm", "builtin", "--guess")
    answer = json.loads(run("ask", *asked, "--json").out)
    places = [(one["source"], one["start"], one["end"]) for one in answer["citations"]]
    about = {source for source, *_ in places if not source.endswith("Sunday_bridge.md")}
    assert len(about) == 1
    assert len(places) == len(set(places))
    cited = next(one for one in answer["citations"] if one["source"] in about)
    everywhere = {cited["source"], *cited["copies"]}
    assert {Path(one).name for one in everywhere} == {"Aldermere.md", "Old_aldermere.md", "Third.md"}
    assert answer["conflicts"] == []
    shown = run("ask", *asked).out
    assert "The same text: articles/" in shown


def test_a_search_lists_a_copied_text_once(run: Command, copied: Path) -> None:
    hits = json.loads(run("search", "Who founded Aldermere?", "--corpus", "mine", "--json").out)
    assert sorted(hit["title"] == "Sunday bridge" for hit in hits) == [False, True]


# --- one file under several paths --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["articles/Aldermere.md", "link.md", "./articles/../articles"])
def test_a_file_of_an_indexed_folder_is_not_indexed_twice(run: Command, articles: Path, path: str) -> None:
    Path("link.md").symlink_to(articles / "Aldermere.md")
    Path("linked").symlink_to(articles)
    assert run("index", "articles", "--corpus", "mine").code == 0
    (articles / "Aldermere.md").write_text("# Aldermere\n\nAldermere was founded by Edda Holm in 1205.\n")
    again = run("index", path, "--corpus", "mine")
    assert again.code == 0, again.err
    assert "0 added, 1 changed, 1 unchanged, 0 removed" in again.out
    assert (f"belongs to {articles}" in again.err) == path.endswith(".md")
    assert run("corpus").out.startswith("mine  2 documents, ")
