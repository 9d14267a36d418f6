"""The developers' commands agree with one another, and the coverage table adds up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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


def test_the_coverage_table_has_a_line_for_each_folder_and_a_total() -> None:
    report = {
        "files": {
            "iterative_rag/errors.py": {"summary": {"num_statements": 10, "missing_lines": 0}},
            "iterative_rag/text/dates.py": {"summary": {"num_statements": 20, "missing_lines": 5}},
            "iterative_rag/text/units/names.py": {"summary": {"num_statements": 10, "missing_lines": 10}},
        }
    }
    done = subprocess.run(
        [sys.executable, "-m", "scripts.coverage_by_folder"],
        input=json.dumps(report),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines() if line]
    assert ["text/", "30", "15", "50.0", "%"] in rows
    assert ["total", "40", "15", "62.5", "%"] in rows
    assert rows[1][:2] == ["(top", "level)"]
