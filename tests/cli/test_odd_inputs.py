"""What users and their shells do that nobody has planned for: one sentence, the right exit code, never a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag.cli import app

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
    "a full stdout": ("IR --help >/dev/full", 4, "What this command prints cannot be written: the disk is full."),
    "a removed folder": ("mkdir gone; cd gone; rmdir ../gone; IR index .", 2, "The folder that this shell is in was"),
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_stderr_costs_neither_the_answer_nor_the_exit_code(articles: Path, unbuffered: str) -> None:
    lines = "IR index articles -q && IR ask 'Who founded Aldermere?' --llm builtin; echo $?; IR ask Aldermere; echo $?"
    done = in_bash(f"({lines}) 2>/dev/full", articles.parent, PYTHONUNBUFFERED=unbuffered)
    answer, *_, answered, refused = done.stdout.splitlines()
    assert "Edda Holm" in answer
    assert (answered, refused) == ("0", "2")


def test_too_few_files_are_said_to_be_that(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: list[str]) -> int:
        raise OSError(errno.EMFILE, "Too many open files", "render.py")

    monkeypatch.setattr(app, "run", fail)
    done = run("history")
    assert done.code == 2
    assert done.err == "Error: This process may not open enough files.\nHint:  Allow more: ulimit -n 1024\n"


OPTIONS = {
    ("--max-seconds", "inf"): "--max-seconds inf is not valid: it must be at most 1,000,000,000.",
    ("--preset", "slow"): "--preset slow is not valid: it must be one of 'fast', 'balanced', 'thorough'.",
    ("--format", "xml"): "--format xml is not valid: it must be one of 'text', 'md', 'json', 'html'.",
    ("--strategy", "x"): "--strategy x is not valid: it must be one of 'naive', ",
}


@pytest.mark.parametrize("options", OPTIONS)
def test_a_refused_value_is_named_with_what_it_may_be(shell: Command, options: tuple[str, str]) -> None:
    done = shell("ask", "Who founded Aldermere?", *options)
    assert done.code == 2
    assert OPTIONS[options] in done.err
    assert "Value error" not in done.err


@pytest.mark.parametrize("address", ["http://", "https:///"])
def test_an_address_without_a_host_is_none(shell: Command, address: str) -> None:
    done = shell("ask", "Who founded Aldermere?", "--llm", "ollama/x", OLLAMA_HOST=address)
    assert done.code == 2
    assert "OLLAMA_HOST is not an address." in done.err
    assert "Sending" not in done.err


def test_a_question_that_was_pasted_with_its_colours_is_the_same_question(shell: Command, articles: Path) -> None:
    assert shell("index", str(articles), "-q").code == 0
    pasted = "Who \x1b[31mfounded\x1b[0m \u202eAldermere\x07?"
    done = shell("ask", pasted, "--llm", "builtin", "-q")
    assert (done.code, done.out) == (0, "Edda Holm\n")


def test_a_command_with_swapped_letters_is_no_question(shell: Command) -> None:
    done = shell("aks", "Who founded Aldermere?")
    assert done.code == 2
    assert "No such command 'aks'." in done.err
