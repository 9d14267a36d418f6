"""What is typed wrong, missing or not possible: one sentence that names it as it was typed, and what to type next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from fakes.command_line import Command, run_on_terminal
from iterative_rag.cli.app import app
from iterative_rag.cli.parsing import name_variables, option_name, options_of
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace, trace_folder
from iterative_rag.system.environment import OPTIONS, TYPED_ONLY

_OF_TYPER = {"debug", "version", "help", "install_completion", "show_completion"}


# --- pipes that close --------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["--help", "history", "trace", "corpus status", "doctor", "history --json"])
def test_a_reader_that_leaves_ends_the_command_quietly(run: Command, articles: Path, arguments: str) -> None:
    assert run("index", str(articles), "-q").code == 0
    trace = Trace("20250101-000000-aaaaaa", [], trace_folder() / "20250101-000000-aaaaaa.jsonl")
    trace.write("run_started", question="Who?")
    trace.close()
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "iterative_rag", *arguments.split()]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output_is_no_fault(run: Command) -> None:
    line = f"exec {sys.executable} -m iterative_rag history --json >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ask who founded it --max-hops 0", "--max-hops 0 is not valid: it must be at least 1."),
        ("ask who founded it --max-calls x", "--max-calls x is not valid: it must be a whole number."),
        ("history --limit 0", "--limit 0 is not valid: it must be at least 1."),
        ("history -n x", "--limit x is not valid: it must be a whole number."),
        ("index here --refused-seconds -1", "--refused-seconds -1 is not valid: it must be at least 0."),
        ("ask who founded it --strategy magic", "--strategy magic is not valid: it must be one of 'naive'"),
        ("ask who founded it --preset", "--preset"),
        ("ask", "The question is empty."),
        ("ask Lincoln?", "The question is one word, 'Lincoln': ask in a sentence"),
        ("???", "The question holds no word: ask in a sentence"),
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
    assert "Input should" not in done.err


def test_a_variable_is_named_as_it_was_set(run: Command) -> None:
    for name in ("MAX_HOPS", "LIMIT"):
        variable = f"ITERATIVE_RAG_{name}"
        command = ("history",) if name == "LIMIT" else ("search", "river")
        done = run(*command, **{variable: "many"})
        assert done.code == 2
        assert f"{variable}=many is not valid: it must be a whole number." in done.err


def test_a_setting_of_a_file_is_named_with_the_file(run: Command, tmp_path: Path) -> None:
    (tmp_path / "iterative-rag.toml").write_text("grade_upper = 2\n")
    done = run("search", "river")
    assert f"grade_upper = 2 in {tmp_path / 'iterative-rag.toml'} is not valid: it must be at most 1." in done.err


def test_a_question_without_spaces_is_one_where_the_script_has_none(run: Command, articles: Path) -> None:
    assert run("index", str(articles), "-q").code == 0
    assert run("ask", "谁建立了这座城市？", "--llm", "builtin", "--language", "en", "-q").code in (0, 3)


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
    done = run("index", str(articles), ITERATIVE_RAG_HOME=str(tmp_path / "file"))
    assert "/file cannot be written: Not a directory." in done.err
    assert (tmp_path / "file").stat().st_mode & 0o100 == 0


def test_a_fast_llm_beside_the_built_in_reader_is_told(run: Command, articles: Path) -> None:
    assert run("index", str(articles), "-q").code == 0
    done = run("ask", "Who founded Aldermere?", "--llm", "builtin", "--fast-llm", "ollama/tiny")
    assert "--fast-llm is not used" in done.err


# --- variables ---------------------------------------------------------------------------------------


def test_every_option_has_a_variable_of_its_name() -> None:
    names = {option_name(option) for option in options_of(get_command(app))}
    assert names - set(Settings.model_fields) - TYPED_ONLY - _OF_TYPER == OPTIONS


def test_a_variable_does_what_its_option_does(run: Command, articles: Path) -> None:
    assert run("index", str(articles), ITERATIVE_RAG_QUIET="1").out == ""
    found = run("search", "Aldermere", ITERATIVE_RAG_JSON="1", ITERATIVE_RAG_LIMIT="1")
    assert found.out.startswith("[")
    assert found.out.count('"title"') == 1


def test_every_option_reads_its_variable_or_is_a_setting() -> None:
    """One without a variable of its own is a setting, which is looked at where no value is given."""
    command = get_command(app)
    name_variables(command)
    lacking = []
    for name, one in _commands(command):
        for option in (parameter for parameter in one.params if parameter.param_type_name == "option"):
            known = option_name(option)
            setting = known in Settings.model_fields and option.default is None and option.name == known
            if not (option.envvar or setting or known in TYPED_ONLY | _OF_TYPER):
                lacking.append(f"{name} --{known}")
    assert lacking == []


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield name, command
    for below, one in getattr(command, "commands", {}).items():
        yield from _commands(one, f"{name} {below}".strip())


def test_an_option_that_must_be_given_has_a_variable_too(run: Command) -> None:
    done = run("evaluate", "run", "--dataset", "none.jsonl", ITERATIVE_RAG_CORPUS="towns")
    assert done.code != 0
    assert "Missing option" not in done.err
    assert "none.jsonl" in done.err


# --- help --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [40, 72, 110])
def test_help_uses_the_width_and_breaks_at_words(columns: int) -> None:
    for command in (["ask", "-h"], ["-h"], ["corpus", "fetch", "-h"]):
        shown = run_on_terminal(command, COLUMNS=str(columns)).replace("\r", "")
        lines = shown.splitlines()
        assert max(map(len, lines)) <= columns
        assert max(map(len, lines)) > columns * 0.7
        words = set(shown.split())
        for whole in ("iterative-rag", "Options:"):
            assert whole in words
        assert not {word for word in words if re.match(r"<(list|str|path|int)", word)}
