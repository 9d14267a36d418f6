"""Builds the wheel and the source distribution, looks into them, and installs each as users do, into nothing.

    ./scripts/check --packages
    python -m scripts.check_packages FILE.whl     # only looks into a wheel

Every installation answers the README's question from an empty home and an empty working folder, by the models and the
corpus inside. It needs the package index, or its packages in a cache. What is not installed here (uv, pipx, twine) is
left out and said. Exit code 0: all that could be tried went well; 1: something did not.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANSWER = "Jane Ballou"
MAX_MEGABYTES = 110
# A wheel holds the package and nothing else.
_WANTED = (
    "iterative_rag/builtin/weights/encoder.onnx",
    "iterative_rag/builtin/weights/evidence.onnx",
    "iterative_rag/builtin/weights/splitter.onnx",
    "iterative_rag/builtin/weights/NOTICE",
    "iterative_rag/starter_corpus/Harriet_Lane.md",
    "iterative_rag/llm/prompts/answer.txt",
    "iterative_rag/answer.schema.json",
    "iterative_rag/py.typed",
)
_FOREIGN = re.compile(r"(^|/)(tests?|fakes|scripts|\.[^/]*|[^/]*\.pyc|conftest\.py|test_[^/]*)(/|$)|\.jsonl(\.gz)?$")


def question() -> str:
    """The one that `scripts/quickstart` asks."""
    script = (ROOT / "scripts" / "quickstart").read_text(encoding="utf-8")
    found = re.search(r'^question="(.*?)"$', script, re.MULTILINE | re.DOTALL)
    assert found, "scripts/quickstart asks no question"
    return found[1].replace("\\\n", "")


def faults_of_wheel(names: Iterable[str], version: str) -> list[str]:
    """What a wheel lacks, and what should not be in it."""
    names = set(names)
    info = f"iterative_rag-{version}.dist-info/"
    licences = [f"{info}licenses/{name}" for name in ("LICENSE", "iterative_rag/builtin/weights/NOTICE")]
    missing = [name for name in (*_WANTED, f"{info}entry_points.txt", *licences) if name not in names]
    foreign = [name for name in sorted(names) if not name.startswith(("iterative_rag/", info)) or _FOREIGN.search(name)]
    return [f"lacks {name}" for name in missing] + [f"holds {name}" for name in foreign]


@dataclass
class Report:
    """What went well, what did not, and what could not be tried."""

    failed: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)

    def check(self, what: str, faults: Sequence[str]) -> None:
        print(f"{'FAILED' if faults else 'ok':<8}{what}")
        for fault in faults:
            print(f"        {fault}")
        self.failed += [what] * bool(faults)

    def leave_out(self, what: str, reason: str) -> None:
        print(f"{'-':<8}{what}: not tried, {reason}")
        self.untried.append(what)

    def summary(self) -> str:
        told = f"Failed: {', '.join(self.failed)}." if self.failed else "All that was tried went well."
        return f"{told} Not tried: {', '.join(self.untried)}." if self.untried else told


def main() -> int:
    about = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m scripts.check_packages", description=about)
    parser.add_argument("wheel", nargs="?", type=Path, help="only look into this one")
    report, wheel = Report(), parser.parse_args().wheel
    if wheel is not None:
        _look_into(wheel, report)
        print(report.summary())
        return int(bool(report.failed))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel, source = _build(folder, report)
        if wheel and source:
            _look_into(wheel, report)
            _look_into_source(source, report)
            _check_metadata([wheel, source], report)
            _install_all(wheel, source, folder, report)
    print(report.summary())
    return int(bool(report.failed))


def _build(folder: Path, report: Report) -> tuple[Path | None, Path | None]:
    """The wheel and the source distribution."""
    out = folder / "dist"
    report.check("python -m build", _run([sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)], folder))
    return next(out.glob("*.whl"), None), next(out.glob("*.tar.gz"), None)


def _look_into(wheel: Path, report: Report) -> None:
    size = wheel.stat().st_size / 1e6
    with zipfile.ZipFile(wheel) as archive:
        faults = faults_of_wheel(archive.namelist(), wheel.name.split("-")[1])
    if size > MAX_MEGABYTES:
        faults.append(f"is larger than {MAX_MEGABYTES} MB")
    report.check(f"contents of the wheel ({size:.0f} MB)", faults)


def _look_into_source(source: Path, report: Report) -> None:
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("pyproject.toml", "LICENSE", "README.md", "iterative_rag/__init__.py", "input_wikipedia/Harriet_Lane.md")
    lacking = [f"lacks {name}" for name in wanted if name not in names]
    report.check(f"contents of the source distribution ({source.stat().st_size / 1e6:.0f} MB)", lacking)


def _check_metadata(files: Sequence[Path], report: Report) -> None:
    if find_spec("twine") is None:
        report.leave_out("twine check", "twine is not installed")
        return
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    report.check("twine check (metadata, and the README as the index shows it)", _run(command, files[0].parent))


def _install_all(wheel: Path, source: Path, folder: Path, report: Report) -> None:
    for file in (wheel, source):
        what = "the wheel" if file is wheel else "the source distribution"
        report.check(f"pip install {what}", _by_pip(file, folder / f"pip-{file.name}"))
    for name, command in (("uvx --from FILE", "uv tool run --from"), ("pipx run --spec FILE", "pipx run --spec")):
        tool, *rest = command.split()
        if found := shutil.which(tool):
            report.check(name, _asked([found, *rest, str(wheel)], folder / tool))
        else:
            report.leave_out(name, f"{tool} is not installed")


def _by_pip(file: Path, place: Path) -> list[str]:
    place.mkdir()
    python = place / "venv" / "bin" / "python"
    return (
        _run([sys.executable, "-m", "venv", str(place / "venv")], place)
        or _run([str(python), "-m", "pip", "install", "--quiet", str(file)], place)
        or _asked([], place, str(python.with_name("iterative-rag")))
    )


def _asked(before: Sequence[str], place: Path, command: str = "iterative-rag") -> list[str]:
    """Ask the README's question in an empty folder with an empty data folder."""
    working = place / "working"
    working.mkdir(parents=True)
    own = {"ITERATIVE_RAG_HOME": str(place / "data"), "XDG_CONFIG_HOME": str(place / "config"), "HOME": str(place)}
    own |= _caches() if before else {}
    run = [*before, command, "ask", "--llm", "builtin", "--quiet", question()]
    faults = _run(run, working, own, expected=ANSWER)
    return faults or [f"left {path.name} in the working folder" for path in working.iterdir()]


def _caches() -> dict[str, str]:
    """An empty home hides the settings and caches of the tools that install; these show them again."""
    home = Path.home()
    return {
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(home / ".cache" / "uv")),
        "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(home / ".cache" / "pip")),
        "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", str(home / ".config")),
    }


def _run(
    command: Sequence[str], folder: Path, own: Mapping[str, str] | None = None, *, expected: str = ""
) -> list[str]:
    """Nothing if the command ended well and printed what was expected, else what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ITERATIVE_RAG_", "PYTHON"))}
    done = subprocess.run(command, cwd=folder, env={**kept, **(own or {})}, capture_output=True, text=True)
    if done.returncode == 0 and expected in done.stdout:
        return []
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-5:]
    return [f"exit code {done.returncode}: {' '.join(command[:4])}", *said]


if __name__ == "__main__":
    raise SystemExit(main())
