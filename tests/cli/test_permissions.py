"""Whatever the umask and whatever lay there before: what the command keeps is its owner's alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import QUESTION, write_articles

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture
def command(run: Command) -> Iterator[Callable[..., None]]:
    """The command where the umask lets everybody do everything."""
    umask = os.umask(0)

    def call(*arguments: str) -> None:
        done = run(*arguments)
        assert done.code in (0, 3), done.err

    yield call
    os.umask(umask)


def open_to_others(*places: Path) -> dict[str, str]:
    """What in these folders anybody but the owner may use, with its mode. The engine of the vectors writes two files
    anew whenever it opens them, in a folder that only the owner may enter."""
    found = [*places, *(path for place in places for path in place.rglob("*") if "vectors" not in path.parts[:-1])]
    modes = {str(path): path.lstat().st_mode for path in found if not path.is_symlink()}
    return {path: stat.filemode(mode) for path, mode in modes.items() if mode & 0o077}


def test_what_is_kept_is_the_owners_alone(command: Callable[..., None], tmp_path: Path) -> None:
    home, articles, shared = tmp_path / "home", tmp_path / "articles", tmp_path / "shared"
    write_articles(articles)
    shared.mkdir()
    shared.chmod(0o755)
    command("index", "articles")
    command("ask", QUESTION, "--llm", "builtin", "--trace", "made/run.jsonl")
    assert open_to_others(home, tmp_path / "made") == {}
    for path in [home, *home.rglob("*")]:  # as an earlier version, or a copy, left it
        path.chmod(0o777 if path.is_dir() else 0o666)
    command("index", "articles")
    command("ask", QUESTION, "--llm", "builtin", "--trace", "shared/run.jsonl")
    loose = open_to_others(home)
    assert [path for path in loose if "/traces/" not in path] == []  # nobody gets there: the folder is tight
    assert stat.filemode(shared.stat().st_mode) == "drwxr-xr-x", "the user's folders keep their modes"
    assert stat.filemode((shared / "run.jsonl").stat().st_mode) == "-rw-------"


def test_a_run_is_the_owners_alone(command: Callable[..., None], tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    write_articles(tmp_path / "articles")
    command("index", "articles")
    question = {"id": "1", "question": QUESTION, "answer": "Edda Holm"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    arguments = ["evaluate", "run", "--dataset", "questions.jsonl", "--corpus", "default", "--llm", "builtin"]
    command(*arguments, "--out", "out")
    loose = open_to_others(out, tmp_path / "home")
    assert [path for path in loose if "/inspect_ai/traces/" not in path] == []  # nobody gets there: the folder is tight
    assert any(path.suffix == ".eval" for path in out.rglob("*"))
