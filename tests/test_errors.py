"""The command that adds an extra fits the environment that runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from iterative_rag import errors
from iterative_rag.errors import install_command

ROOT = Path(__file__).resolve().parents[1]


def test_in_a_checkout_it_is_quickstart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    monkeypatch.chdir(ROOT)
    assert install_command("files") == "./scripts/quickstart --extra files"
    monkeypatch.chdir(tmp_path)
    assert install_command("files") == f"{ROOT}/scripts/quickstart --extra files"


@pytest.mark.parametrize(
    ("pip", "command"), [(object(), "{} -m pip install {}"), (None, "uv pip install --python {} {}")]
)
def test_in_another_environment_it_is_the_pip_of_that_one_or_uv(
    pip: object, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/my env/python")
    monkeypatch.setattr(errors, "find_spec", lambda name: pip)
    assert install_command("files") == command.format(f"'{tmp_path}/my env/python'", "'iterative-rag[files]'")
