"""The README and the pages of commands and settings do not promise what is not there: what they show runs, and their
tables are the code's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from fakes.command_line import SEVERAL
from iterative_rag.cli.app import COMMANDS
from iterative_rag.settings import PRESETS, Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND_PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
# What a test cannot run: it installs, or needs a server.
ELSEWHERE = ("./scripts/", "source ", "pip install", "ollama ", "iterative-rag corpus ")  # other tests run these


def blocks(page: str, language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return [block for marked, block in fences if marked == language]


def commands() -> list[str]:
    """Those of the page of commands; tests/cli/test_outgoing.py runs those of the README."""
    lines = [line.split("  #")[0].strip() for block in blocks(COMMAND_PAGE, "sh") for line in block.splitlines()]
    return [line for line in lines if line]


def test_every_command_and_the_python_run(tmp_path: Path) -> None:
    """In their order, because a trace needs a run before it, and in one process, which loads the models once. An
    abstention (3) is no failure of a command."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ITERATIVE_RAG_", "OPENAI_"))}
    own = {"ITERATIVE_RAG_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    shown = [line for line in commands() if not line.startswith(ELSEWHERE) and " --llm o" not in line]
    assert len(shown) >= 4
    run = []
    for line in shown:
        program, _, arguments = line.partition(" ")
        assert program == "iterative-rag", line
        run.append(f"{arguments} --llm builtin" if arguments.startswith("ask ") and "--llm" not in line else arguments)
    code = "\n".join([SEVERAL, *blocks(README + COMMAND_PAGE, "python")])
    done = subprocess.run(
        [sys.executable, "-c", code, *run],
        cwd=tmp_path,
        env={**kept, **own, "OLLAMA_HOST": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert "AnalysisStep" in done.stdout


def test_every_script_is_there_and_may_be_run() -> None:
    for name in set(re.findall(r"\./(scripts/\w+)", README)) | {".ci/run"}:
        path = ROOT / name
        assert path.is_file(), name
        assert os.access(path, os.X_OK), name
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_every_command_stands_in_the_table() -> None:
    for name in COMMANDS:
        assert f"| `iterative-rag {name}" in COMMAND_PAGE


def test_every_setting_stands_in_the_table() -> None:
    table = SETTINGS_PAGE[SETTINGS_PAGE.index("| keys and defaults") : SETTINGS_PAGE.index("Presets:")]
    shown = dict(re.findall(r"`([a-z0-9_]+)`(?: `([\w.]+)`)?(?=[, ])", table))
    for name, field in Settings.model_fields.items():
        default = "" if field.default in ("", ()) else str(field.default).lower().removesuffix(".0")
        assert shown.get(name) == default, f"{name} should be {default!r} in docs/settings.md"


def test_every_preset_is_named() -> None:
    assert f"--preset {'|'.join(PRESETS)}" in COMMAND_PAGE


def test_the_length_is_what_a_reader_bears() -> None:
    assert 100 <= len(README.splitlines()) <= 200


def test_no_place_is_left_open() -> None:
    assert not re.findall(r"<!-- (?:transcript|settings|figures?)\b.*?-->", README)
