"""What is typed wrong, missing or not possible: one sentence that names it as it was typed, and what to type next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.terminal_session import run_on_terminal

# --- pipes that close --------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["--help", "corpus status"])
def test_a_reader_that_leaves_ends_the_command_quietly(run: Command, articles: Path, arguments: str) -> None:
    assert run("index", str(articles), "-q").code == 0
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "iterative_rag", *arguments.split()]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ask who founded it --max-hops 0", "--max-hops 0 is not valid: input should be greater than or equal to 1."),
        ("ask who founded it --max-calls x", "--max-calls x is not valid: input should be a valid integer"),
        ("history -n x", "--limit x is not valid: input should be a valid integer"),
        (
            "index here --refused-seconds -1",
            "--refused-seconds -1 is not valid: input should be greater than or equal to",
        ),
        ("ask who founded it --strategy magic", "Invalid value for '--strategy': 'magic' is not one of 'naive'"),
        ("ask", "The question is empty."),
        ("Lincoln", "No such command 'Lincoln'."),
        ("corpus remove", "Missing argument 'NAME'."),
    ],
)
def test_what_is_wrong_is_named_as_it_was_typed(run: Command, line: str, message: str) -> None:
    done = run(*line.split())
    assert done.code == 2
    assert message in done.err
    assert re.search(r"^Hint:  .*iterative-rag|^Hint:  max_hops", done.err, re.M)
    assert len(done.err.splitlines()) == 2


def test_an_unknown_corpus_is_answered_with_those_that_exist(run: Command, articles: Path) -> None:
    for name in ("towns", "rivers"):
        assert run("index", str(articles), "-q", "--corpus", name).code == 0
    for command in (("ask", "Who founded Orm?"), ("search", "orm"), ("show", "Orm")):
        done = run(*command, "--corpus", "town")
        assert done.code == 4
        assert "There is no corpus 'town'." in done.err
        assert "Did you mean 'towns'? There are: rivers, towns. Make it: iterative-rag index" in done.err
    assert run("corpus", "remove", "zzz").code == 4


def test_a_data_folder_that_cannot_be_written_is_said_to_be_that(run: Command, articles: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for command in (["index", str(articles)], ["ask", "Who founded Aldermere?", "-q"]):
        done = run(*command, ITERATIVE_RAG_HOME=str(tmp_path / "file" / "home"))
        assert done.code == 4
        assert re.search(r"Error: The data folder .*file/home cannot be written: Not a directory\.", done.err)
        assert "Set ITERATIVE_RAG_HOME to a folder that you may write." in done.err


# --- help --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [90, 110])
def test_help_uses_the_width_and_breaks_at_words(columns: int) -> None:
    shown = run_on_terminal(["ask", "-h"], COLUMNS=str(columns)).replace("\r", "")
    assert columns * 0.7 < max(map(len, shown.splitlines())) <= columns
    assert {"iterative-rag", "Options:"} <= set(shown.split())


# --- empty values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("ask", "Who?", "--corpus", ""), "--corpus"),
        (("ask", "Who?", "--llm="), "--llm"),
        (("Who was she?", "--index", " "), "--index"),
        (("index", "articles", "--corpus", ""), "--corpus"),
        (("search", "lady", "--title", ""), "--title"),
        (("corpus", "remove", "c", "--index="), "--index"),
        (("evaluate", "run", "--dataset", "q.jsonl", "--out", ""), "--out"),
        (("evaluate", "fetch", "frames", "--corpus", " "), "--corpus"),
    ],
)
def test_an_empty_value_of_an_option_is_refused(
    run: Command, tmp_path: Path, command: tuple[str, ...], option: str
) -> None:
    done = run(*command)
    assert (done.code, done.out) == (2, "")
    assert f"The value of {option} is empty." in done.err
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("command", ["index", "show", "corpus remove", "corpus add", "ask --"])
def test_an_empty_argument_is_refused(run: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "notes.txt").write_text("An empty path must not stand for the working folder.")
    done = run(*command.split(), "")
    assert done.code == 2
    assert "is empty." in done.err
    assert not (tmp_path / "home").exists()


# --- what a shell does -------------------------------------------------------------------------------


IR = f"{sys.executable} -m iterative_rag"


def in_bash(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, where streams and limits are as the line makes them."""
    return subprocess.run(
        ["bash", "-c", line.replace("IR", IR)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


SHELL = {
    "no stdin": ("IR ask - <&-", 2, "There is no stdin to read the question from."),
    "a full stdout": ("IR --help >/dev/full", 4, "A disk is full."),
}


@pytest.mark.parametrize("case", SHELL)
def test_what_a_shell_can_take_away(tmp_path: Path, case: str) -> None:
    line, code, told = SHELL[case]
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = in_bash(line, tmp_path)
    assert done.returncode == code, done.stderr
    assert f"Error: {told}" in done.stderr
    assert "Unexpected" not in done.stderr


def test_a_question_that_was_pasted_with_its_colours_is_the_same_question(run: Command, articles: Path) -> None:
    assert run("index", str(articles), "-q").code == 0
    pasted = "Who \x1b[31mfounded\x1b[0m \u202eAldermere\x07?"
    done = run("ask", pasted, "--llm", "builtin", "-q")
    assert (done.code, done.out) == (0, "Edda Holm\n")
