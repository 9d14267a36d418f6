"""The command that adds an extra fits the environment that runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from iterative_rag import errors
from iterative_rag.errors import install_command

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENT = "'iterative-rag[files]'"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that no checkout made."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my env" / "python"))
    return tmp_path


def test_in_a_checkout_it_is_quickstart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    monkeypatch.chdir(ROOT)
    assert install_command("files") == "./scripts/quickstart --extra files"
    monkeypatch.chdir(tmp_path)
    assert install_command("files") == f"{ROOT}/scripts/quickstart --extra files"


def test_in_another_environment_it_is_the_pip_of_that_one(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: object())
    assert install_command("files") == f"'{elsewhere}/my env/python' -m pip install {REQUIREMENT}"


def test_without_pip_it_is_uv(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    assert install_command("files") == f"uv pip install --python '{elsewhere}/my env/python' {REQUIREMENT}"
