"""`scripts/check --audit`: known holes fail it, and so do advisories that could not be looked up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLEAN = {"name": "httpx", "version": "0.28.1", "vulns": []}
SKIPPED = {"name": "numpy", "skip_reason": "Dependency not found on PyPI and could not be audited"}
HOLED = {"name": "nltk", "version": "3.9.3", "vulns": [{"id": "CVE-2026-12243", "fix_versions": ["3.10.3"]}]}


def audited(tmp_path: Path, printed: str) -> subprocess.CompletedProcess[str]:
    """The audit, with a pip-audit that prints this."""
    fake = tmp_path / "pip_audit"
    fake.mkdir()
    (fake / "__init__.py").write_text("")
    (fake / "__main__.py").write_text(f"print({printed!r})")
    command = [sys.executable, "-m", "scripts.audit_dependencies"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)


def dependencies(*packages: Mapping[str, object]) -> str:
    return json.dumps({"dependencies": packages})


def test_a_known_hole_is_named_with_the_version_that_closes_it(tmp_path: Path) -> None:
    done = audited(tmp_path, dependencies(CLEAN, HOLED))
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "nltk 3.9.3: CVE-2026-12243, fixed in 3.10.3"


def test_packages_that_could_not_be_looked_up_are_named(tmp_path: Path) -> None:
    done = audited(tmp_path, dependencies(CLEAN, SKIPPED))
    assert done.returncode == 0
    assert done.stdout == "Audited 1 of 2 packages; not found: numpy.\n"


def test_where_nothing_can_be_looked_up_it_does_not_pass(tmp_path: Path) -> None:
    done = audited(tmp_path, dependencies(SKIPPED))
    assert done.returncode == 2
    assert "the advisories cannot be had from here" in done.stderr


def test_a_pip_audit_that_fails_is_no_pass(tmp_path: Path) -> None:
    done = audited(tmp_path, "Traceback")
    assert done.returncode == 2
    assert done.stderr.startswith("The packages were not audited")
