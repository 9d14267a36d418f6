"""A full disk is called full and never damaged: what is there is read, and with room everything goes on."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer

_FILLER = "filler"


class CannotMount(Exception):
    """Why there can be no small disk here."""


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """An empty disk, mounted below `folder`: an image with ext4. Raises CannotMount."""
    image, place = folder / "disk.img", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(megabytes * 1024 * 1024)
    _run("mkfs.ext4", "-q", "-b", "4096", "-m", "0", str(image))
    _run("mount", "-o", "loop", str(image), str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        image.unlink(missing_ok=True)


def fill(disk: Path, leave_megabytes: int = 0) -> None:
    """Take all that is free, or all but so much."""
    spare = disk / "spare"
    if leave_megabytes:
        spare.write_bytes(bytes(leave_megabytes * 1024 * 1024))
    for size in (1024 * 1024, 4096, 1):
        with contextlib.suppress(OSError), (disk / f"{_FILLER}{size}").open("wb", buffering=0) as file:
            while file.write(bytes(size)) == size:
                pass
    spare.unlink(missing_ok=True)


def make_room(disk: Path) -> None:
    for filler in disk.glob(f"{_FILLER}*"):
        filler.unlink()


def _run(*command: str) -> None:
    if shutil.which(command[0]) is None:
        raise CannotMount(f"there is no {command[0]}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMount(" ".join(done.stderr.split()) or f"{command[0]} failed")


# --- the tests -----------------------------------------------------------------------------------


QUESTION = "Where does Tarn lie?"


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    try:
        with small_disk(tmp_path_factory.mktemp("small"), 200) as place:
            yield place
    except CannotMount as reason:
        pytest.skip(f"no small disk can be mounted here: {reason}")


@pytest.fixture
def disk(mounted: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of all data on a disk of 200 MB."""
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(mounted / "home"))
    yield mounted
    make_room(mounted)
    shutil.rmtree(mounted / "home", ignore_errors=True)


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "Tarn.txt").write_text("Tarn lies on the river Mell.")
    (folder / "Elm.txt").write_text("Elm is a village below the mountains.")
    return folder


@pytest.fixture
def towns(run: Command, disk: Path, articles: Path) -> Path:
    assert run("index", str(articles), "--corpus", "towns").code == 0
    return disk / "home" / "corpora" / "towns"


def test_a_question_is_answered_without_trace_and_cache(
    run: Command, shell: Command, disk: Path, towns: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.reply = '{"status": "stuck", "reason": "nothing is known"}'
    ask = ("ask", QUESTION, "--corpus", "towns", "--llm", "ollama/tiny:8b", "--json")
    with_room = shell(*ask)
    fill(disk)
    done = shell(*ask)
    assert done.code == with_room.code == 3
    assert done.err.count("The trace") == 1
    assert done.err.count("The cache") <= 1
    assert "damaged" not in done.err
    make_room(disk)
    assert shell(*ask).err.count("Warning") == 0
    assert run("trace").code == 0


def test_indexing_says_how_much_is_needed_and_goes_on_later(
    run: Command, disk: Path, towns: Path, articles: Path
) -> None:
    (articles / "Ash.txt").write_text("Ash is new.")
    index = ("index", str(articles), "--corpus", "towns")
    for leave in (0, 60):
        fill(disk, leave)
        done = run(*index)
        assert done.code == 4
        assert f"The disk of {towns} is full: 128 MB are needed, " in done.err
        assert "Free some space and run the same command again" in done.err
        assert "damaged" not in done.err
        make_room(disk)
        assert "ready" in run("corpus").out or leave
    assert "1 added, 0 changed, 2 unchanged" in run(*index).out


WRITING = (
    "index {articles} --corpus towns",
    "index {articles} --corpus new",
    "corpus remove towns --yes",
    "evaluate run --dataset {questions} --corpus towns --llm builtin --out {out}",
    "cache clear",
    "keys set api.example.org",
)


def test_a_read_only_disk_is_said_in_a_sentence(
    run: Command, mounted: Path, disk: Path, towns: Path, articles: Path, tmp_path: Path
) -> None:
    questions = _dataset(tmp_path)
    assert run("ask", QUESTION, "--corpus", "towns", "--llm", "builtin").code in (0, 3)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    try:
        assert "Tarn" in run("search", "river", "--corpus", "towns").out
        for line in WRITING:
            words = line.format(articles=articles, questions=questions, out=tmp_path / "out").split()
            done = run(*words, stdin="sk-key", XDG_CONFIG_HOME=str(disk / "config"))
            errors = [said for said in done.err.splitlines() if not said.startswith("Warning")]
            assert done.code == 4, (line, done.err)
            assert "Read-only file system" in errors[0], (line, done.err)
            assert [said.split(":")[0] for said in errors] == ["Error", "Hint"], line
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)
    assert "Tarn" in run("search", "river", "--corpus", "towns").out


def _dataset(folder: Path) -> str:
    place = folder / "questions.jsonl"
    place.write_text(f'{{"question": "{QUESTION}", "answer": "Mell", "gold_titles": ["Tarn"]}}')
    return str(place)
