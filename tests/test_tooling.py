"""The developers' commands agree with one another."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def test_pre_commit_runs_what_the_check_script_runs() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    local = next(repository for repository in config["repos"] if repository["repo"] == "local")
    script = (ROOT / "scripts/check").read_text(encoding="utf-8")
    checked = [" ".join(command) for command in re.findall(r'^"\$venv/bin/(\w+)"(.*)$', script, flags=re.MULTILINE)]
    assert len(checked) == 3
    assert [hook["entry"] for hook in local["hooks"]] == [
        f".venv/bin/{re.sub(r' +', ' ', command).strip()}" for command in checked
    ]
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in local["hooks"])


def test_pre_commit_looks_for_keys_and_large_files() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = {hook["id"] for repository in config["repos"] for hook in repository["hooks"]}
    assert {"detect-private-key", "check-added-large-files", "trailing-whitespace", "end-of-file-fixer"} <= hooks


def test_the_changelog_tells_of_the_version_that_is_built_and_fits_a_release_note() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert newest.startswith(f"{version} ")
    assert newest.count("\n") <= 30
