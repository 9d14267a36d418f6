"""What users install: the names and contents of the wheel, and the check that looks into it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the backend itself, in this process."""
    build = pytest.importorskip("hatchling.build", reason="hatchling is in the dev group: run ./scripts/test")
    folder, before = tmp_path_factory.mktemp("dist"), Path.cwd()
    os.chdir(ROOT)
    try:
        return folder / str(build.build_wheel(str(folder)))
    finally:
        os.chdir(before)


def looked_into(wheel: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.check_packages", str(wheel)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    done = looked_into(wheel)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("ok      contents of the wheel")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    starter = {name.rpartition("/")[2] for name in names if name.startswith("iterative_rag/starter_corpus/")}
    assert starter == {path.name for path in (ROOT / "input_wikipedia").iterdir()}


def test_the_metadata_say_what_an_index_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(name).decode())
    assert (told["Name"], told["License-Expression"]) == ("iterative-rag", "Apache-2.0")
    assert told["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in told.get_all("Classifier", [])
    assert len(told.get_all("License-File", [])) == 3
    assert "# iterative_rag" in told.get_payload()


def test_what_is_missing_and_what_does_not_belong_are_named(tmp_path: Path) -> None:
    foreign = ["tests/test_a.py", "iterative_rag/evaluation/data/frames.jsonl", "fakes/server.py", "iterative_rag/.env"]
    made = tmp_path / "iterative_rag-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name in [*foreign, "iterative_rag/__init__.py"]:
            archive.writestr(name, "")
    done = looked_into(made)
    assert done.returncode == 1
    assert all(f"holds {name}\n" in done.stdout for name in foreign)
    assert "lacks iterative_rag/builtin/weights/evidence.onnx\n" in done.stdout
    assert "__init__" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Failed: contents of the wheel")
