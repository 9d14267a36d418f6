"""No command reports anything to anybody: real processes, kept alive for 20 s, under a guard that sees native code."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fakes.command_line import SEVERAL

ROOT = Path(__file__).parents[2]
GUARD = Path(__file__).parent / "outgoing_guard.c"
ALIVE = 20  # seconds after the command: onnxruntime reports after about 15
INDEX = "index Town.md --corpus towns --quiet"
COMMANDS = {
    "ask": [
        INDEX,
        "search town --corpus towns",
        "ask 'When was the town founded?' --corpus towns --llm builtin --quiet",
    ],
    "evaluate": [INDEX, "evaluate run --dataset questions.jsonl --corpus towns --llm builtin --out run"],
}


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("the guard is a shared library for Linux, and needs gcc to be built")
    library = tmp_path_factory.mktemp("guard") / "guard.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, GUARD, "-ldl"], check=True)
    return library


def process(folder: Path, lines: list[str], code: str = SEVERAL, **more: str) -> subprocess.Popen[str]:
    """A process with an empty home in `folder`, which is its working folder too."""
    (folder / "home").mkdir(parents=True)
    (folder / "Town.md").write_text("# Town\n\nThe town was founded in 1204.\n")
    (folder / "questions.jsonl").write_text(
        '{"question": "When was the town founded?", "answer": "1204", "gold_titles": ["Town"]}\n'
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder / "home")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *lines],
        cwd=folder,
        env=environment | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outgoing(folder: Path) -> str:
    """What the process tried to look up or to reach."""
    log = folder / "outgoing"
    return log.read_text() if log.exists() else ""


def foreign_files(folder: Path) -> Iterator[str]:
    """What lies in the home folder outside the package's own."""
    home = folder / "home"
    for path in sorted(home.rglob("*")):
        if path.is_file() and home / ".local/share/iterative-rag" not in path.parents:
            yield str(path.relative_to(home))


def test_nothing_is_looked_up_sent_or_left_behind(guard: Path, tmp_path: Path) -> None:
    with ExitStack() as opened:
        running = {
            name: opened.enter_context(
                process(
                    tmp_path / name,
                    lines,
                    f"{SEVERAL}\nimport time; time.sleep({ALIVE})",
                    LD_PRELOAD=str(guard),
                    OUTGOING_LOG=str(tmp_path / name / "outgoing"),
                )
            )
            for name, lines in COMMANDS.items()
        }
        for name, one in running.items():
            printed, _ = one.communicate(timeout=120)
            assert one.returncode == 0, f"{name}: {printed}"
    assert {name: outgoing(tmp_path / name) for name in COMMANDS} == dict.fromkeys(COMMANDS, "")
    assert {name: list(foreign_files(tmp_path / name)) for name in COMMANDS} == {key: [] for key in COMMANDS}


# By the README's line about it; the scripts install, which fetches packages.
SENDS = ("--llm ollama/", "--web", "corpus fetch", "corpus add", "evaluate fetch")


def test_the_readme_names_all_that_sends_and_its_other_commands_send_nothing(guard: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    promise = next(entry for entry in readme.split("\n- ") if entry.startswith("**Nothing leaves your machine**"))
    assert all(
        word in promise for word in ("server", "`--web`", "`corpus fetch`", "`corpus add URL`", "`evaluate fetch`")
    )
    fences = re.findall(r"^```sh\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0].strip() for fence in fences for line in fence.splitlines()]
    run = [line.partition(" ")[2] for line in lines if line.startswith("iterative-rag ")]
    local = [line for line in run if not any(word in line for word in SENDS)]
    assert len(local) >= 10
    folder = tmp_path / "readme"
    folder.joinpath("articles").mkdir(parents=True)
    folder.joinpath("articles", "Town.md").write_text("# Town\n\nThe town was founded in 1204.\n")
    folder.joinpath("pages.jsonl.gz").write_bytes(gzip.compress(b'{"title": "Page", "text": "A page about a town."}\n'))
    log, nobody = str(folder / "outgoing"), "http://127.0.0.1:9"
    with process(folder, local, LD_PRELOAD=str(guard), OUTGOING_LOG=log, OLLAMA_HOST=nobody) as one:
        printed, _ = one.communicate(timeout=240)
    assert one.returncode == 0, printed
    assert outgoing(folder) == ""


def test_the_guard_sees_what_is_sent(guard: Path, tmp_path: Path) -> None:
    code = "import socket\ntry: socket.create_connection(('telemetry.example.org', 443))\nexcept OSError: pass"
    environment = {**os.environ, "LD_PRELOAD": str(guard), "OUTGOING_LOG": str(tmp_path / "outgoing")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert outgoing(tmp_path) == "getaddrinfo telemetry.example.org\n"


def test_evaluate_takes_no_settings_and_runs_no_program_of_the_folder(tmp_path: Path) -> None:
    """inspect_ai loads the .env of the working folder, or of any above it, into the environment of the process, and
    calls `git status`, which runs what the folder's own .git/config names as core.fsmonitor."""
    (tmp_path / ".env").write_text("OLLAMA_HOST=http://thief.example.org\nHTTPS_PROXY=http://thief.example.org\n")
    planted = f"touch {tmp_path / 'ran'}; false"
    lines = [["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["config", "core.fsmonitor", planted]]
    code = f"""
import os, subprocess
for words in {lines if shutil.which("git") else []}:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True)
{SEVERAL}
print(os.environ)"""
    with process(tmp_path / "work", COMMANDS["evaluate"], code) as one:
        printed, _ = one.communicate(timeout=120)
    assert one.returncode == 0, printed
    assert "'PATH'" in printed
    assert "thief" not in printed
    assert not (tmp_path / "ran").exists()
