"""The command as a process: help, routing, version, colour."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fakes.command_line import Command, TerminalCommand
from iterative_rag.cli.app import COMMANDS, route


def test_help_names_every_command_and_exit_code(shell: Command, run: Command) -> None:
    done = shell("--help")
    assert done.code == 0
    assert done.out == run("-h").out
    for name in COMMANDS:
        assert f"\n  {name} " in done.out
    for code in ("0 answered", "2 wrong", "3 abstained", "4 corpus", "5 LLM", "6 incomplete", "130 interrupted"):
        assert code in " ".join(done.out.split())
    assert "Examples:" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(run: Command, name: str) -> None:
    done = run(name, "-h")
    assert done.code == 0
    assert "Examples:" in done.out


def test_the_module_is_the_command(shell: Command) -> None:
    script = os.path.join(os.path.dirname(sys.executable), "iterative-rag")
    if not os.path.exists(script):
        pytest.skip("the package is not installed here, only on the path")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == shell("--version").out != ""


def test_a_mistyped_command_is_refused_with_a_suggestion(run: Command) -> None:
    for arguments in (["serach"], ["serach", "two", "words"]):
        done = run(*arguments)
        assert done.code == 2
        assert "search" in done.err


@pytest.mark.parametrize(
    ("arguments", "routed"),
    [
        (["Who was it?"], ["ask", "Who was it?"]),
        (["-"], ["ask", "-"]),
        ([""], ["ask", ""]),
        (["--json", "Who was it?"], ["ask", "--json", "Who was it?"]),
        (["index", "folder"], ["index", "folder"]),
        (["--help"], ["--help"]),
        ([], []),
        (["--", "--debug"], ["ask", "--", "--debug"]),
    ],
)
def test_routing(arguments: list[str], routed: list[str]) -> None:
    assert route(arguments) == (routed, False)


def test_colour_on_a_terminal_only_where_it_is_wanted(run: Command, on_a_terminal: TerminalCommand) -> None:
    wrong = ["trace"]  # there is none: an error with a hint
    assert "\x1b[" in on_a_terminal(wrong)
    assert "\x1b[" not in on_a_terminal(wrong, NO_COLOR="1")
    assert "\x1b" not in run(*wrong, FORCE_COLOR="1").err
