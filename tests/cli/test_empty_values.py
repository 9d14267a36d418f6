"""An empty value, as an unset shell variable leaves it, is refused: it must not stand for some default."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.command_line import Command

COMMANDS = [
    "ask Who? --corpus",
    "ask Who? --llm",
    "ask Who? --fast-llm",
    "ask Who? --embedder",
    "ask Who? --index",
    "ask Who? --trace",
    "index articles --corpus",
    "index articles --corpus c --embedder",
    "search lady --corpus",
    "search lady --title",
    "show Lane --corpus",
    "corpus add articles --corpus",
    "corpus fetch Lane --corpus",
    "corpus remove c --index",
    "evaluate run --dataset q.jsonl --corpus",
    "evaluate run --dataset q.jsonl --out",
    "evaluate retrieval --dataset q.jsonl --corpus",
    "evaluate report out --html",
    "evaluate matrix grid.toml --out",
    "evaluate fetch frames --corpus",
]
VALUES = {"separate": ["{}", ""], "joined": ["{}="], "blank": ["{}", " "]}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_value_of_an_option_is_refused(run: Command, tmp_path: Path, command: str, value: str) -> None:
    *words, option = command.split()
    done = run(*words, *(part.format(option) for part in VALUES[value]))
    assert done.code == 2
    assert done.out == ""
    assert f"The value of {option} is empty." in done.err
    assert not (tmp_path / "home").exists()


def test_an_empty_value_beside_a_bare_question_is_refused(run: Command) -> None:
    assert "The value of --corpus is empty." in run("Who was she?", "--corpus", "").err


@pytest.mark.parametrize(
    "arguments",
    [("index", ""), ("index", "articles", ""), ("show", ""), ("corpus", "remove", ""), ("corpus", "add", "")],
    ids=" ".join,
)
def test_an_empty_argument_is_refused(run: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "notes.txt").write_text("An empty path must not stand for the working folder.")
    done = run(*arguments)
    assert done.code == 2
    assert "is empty." in done.err
    assert not (tmp_path / "home").exists()


def test_what_stands_behind_two_dashes_is_no_option(run: Command) -> None:
    assert "The question is empty." in run("ask", "--", "").err
