"""The command that adds an extra fits the environment that runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from iterative_rag.errors import installation
from iterative_rag.errors.installation import install_command

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENT = "'iterative-rag[files]'"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that no checkout made, and that is not activated."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my env" / "python"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setattr(installation, "_origin", dict)
    return tmp_path


def test_in_a_checkout_it_is_quickstart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    monkeypatch.chdir(ROOT)
    assert install_command("files") == "./scripts/quickstart --extra files"
    monkeypatch.chdir(tmp_path)
    assert install_command("files") == f"{ROOT}/scripts/quickstart --extra files"


def test_in_another_environment_it_is_the_pip_of_that_one(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: object())
    assert install_command("files") == f"'{elsewhere}/my env/python' -m pip install {REQUIREMENT}"
    monkeypatch.setenv("VIRTUAL_ENV", str(elsewhere))
    assert install_command("files") == f"pip install {REQUIREMENT}"


def test_without_pip_it_is_uv(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    monkeypatch.setenv("VIRTUAL_ENV", str(elsewhere))
    assert install_command("files") == f"uv pip install --python '{elsewhere}/my env/python' {REQUIREMENT}"


def laid_out(monkeypatch: pytest.MonkeyPatch, prefix: Path, marker: str = "") -> None:
    """This process runs in an environment as a tool lays it out."""
    prefix.mkdir(parents=True)
    if marker:
        (prefix / marker).write_text("")
    monkeypatch.setattr(sys, "prefix", str(prefix))


TOOLS = {
    "uv tool": ("uv/tools/iterative-rag", "uv-receipt.toml", "uv tool install {}"),
    "uvx": ("uv/archive-v0/v68a19Ims9WI9Kun", "", "uvx --from {} iterative-rag ..."),
    "pipx": ("pipx/venvs/iterative-rag", "pipx_metadata.json", "pipx install --force {}"),
    "pipx run": ("pipx/.cache/9899e19228d7232", "pipx_metadata.json", "pipx run --spec {} iterative-rag ..."),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_in_the_environment_of_a_tool_it_is_the_tool(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    prefix, marker, command = TOOLS[tool]
    laid_out(monkeypatch, elsewhere / prefix, marker)
    assert install_command("files") == command.format(REQUIREMENT)
    package = elsewhere / "iterative_rag.whl"
    package.write_bytes(b"")
    monkeypatch.setattr(installation, "_origin", lambda: {"url": package.as_uri(), "archive_info": {}})
    assert install_command("files") == command.format(f"'iterative-rag[files] @ {package.as_uri()}'")
    package.unlink()
    assert install_command("files") == command.format(REQUIREMENT)


def test_a_checkout_or_a_repository_is_named_as_the_source(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(monkeypatch, elsewhere / "tools" / "iterative-rag", "uv-receipt.toml")
    editable = {"url": elsewhere.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(installation, "_origin", lambda: editable)
    assert install_command("files") == f"uv tool install --editable '{elsewhere}[files]'"
    pinned = {"url": "https://example.org/rag.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}
    monkeypatch.setattr(installation, "_origin", lambda: pinned)
    assert install_command("web") == "uv tool install 'iterative-rag[web] @ git+https://example.org/rag.git@c0ffee'"
