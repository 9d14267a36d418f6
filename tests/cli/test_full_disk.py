"""A full disk is called full and never damaged: what is there is read, and with room everything goes on."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.small_disk import CannotMount, fill, make_room, small_disk
from iterative_rag.index.sqlite_errors import DAMAGE_MARK

QUESTION = "Where does Tarn lie?"
READING = ("search river --corpus towns", "show Tarn --corpus towns", "corpus", "corpus status towns")


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


def test_a_healthy_corpus_is_read_as_before(run: Command, disk: Path, towns: Path) -> None:
    before = [run(*line.split()) for line in READING]
    fill(disk)
    full = [run(*line.split()) for line in READING]
    assert [(done.code, done.out) for done in full] == [(done.code, done.out) for done in before]
    assert not any("damaged" in done.err for done in full)
    assert not (towns / DAMAGE_MARK).exists()
    make_room(disk)
    assert [run(*line.split()) for line in READING] == before


def test_a_question_is_answered_without_trace_and_cache(
    run: Command, shell: Command, disk: Path, towns: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.reply = '{"status": "stuck", "reason": "nothing is known"}'
    ask = ("ask", QUESTION, "--corpus", "towns", "--llm", "ollama/tiny:1b", "--json")
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


def test_another_embedder_does_not_cost_the_corpus(
    run: Command, disk: Path, towns: Path, articles: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The corpus has to be made anew for it, but not before there is room for the new one."""
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    fill(disk, 60)
    done = run("index", str(articles), "--corpus", "towns", "--embedder", "ollama/tiny:1b")
    assert done.code == 4
    assert "is full: 128 MB are needed, " in done.err
    assert "Tarn" in run("search", "river", "--corpus", "towns").out


@pytest.mark.parametrize("leave", [0, 60])
def test_a_first_corpus_leaves_nothing_behind(run: Command, disk: Path, articles: Path, leave: int) -> None:
    (disk / "home").mkdir()
    fill(disk, leave)
    index = ("index", str(articles), "--corpus", "towns")
    done = run(*index)
    assert done.code == 4
    assert "128 MB are needed" in done.err
    assert "towns" not in run("corpus").out
    make_room(disk)
    assert run(*index).code == 0


def test_what_is_written_elsewhere_is_said_in_a_sentence(run: Command, disk: Path, towns: Path, tmp_path: Path) -> None:
    fill(disk)
    (tmp_path / "grid.toml").write_text("[base]\n")
    done = run(
        "evaluate",
        "run",
        "--dataset",
        _dataset(tmp_path),
        "--corpus",
        "towns",
        "--llm",
        "builtin",
        "--out",
        str(disk / "out"),
    )
    assert done.code == 4
    assert f"The disk of {disk / 'out'}" in done.err
    assert "is full" in done.err


def test_a_log_of_an_evaluation_that_cannot_be_closed_is_said_to_be_that(
    run: Command, towns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*tasks: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")  # as closing a file says it

    monkeypatch.setattr("inspect_ai.eval_set", fail)
    place = tmp_path / "out"
    done = run("evaluate", "run", "--dataset", _dataset(tmp_path), "--corpus", "towns", "--out", str(place), "--quiet")
    assert done.code == 4
    assert f"no space left for {place}" in done.err


def test_an_evaluation_without_room_in_the_data_folder_is_refused_in_a_sentence(
    run: Command, disk: Path, towns: Path, tmp_path: Path
) -> None:
    fill(disk)
    line = ("evaluate", "run", "--dataset", _dataset(tmp_path), "--corpus", "towns", "--llm", "builtin")
    done = run(*line, "--out", str(tmp_path / "out"), "--quiet")
    assert done.code == 4
    assert done.err.startswith(f"Error: The disk of {disk / 'home'}")
    assert len(done.err.splitlines()) == 2


def test_a_full_configuration_disk_is_not_what_the_command_prints(run: Command, disk: Path) -> None:
    fill(disk)
    done = run("keys", "set", "api.example.org", stdin="sk-key", XDG_CONFIG_HOME=str(disk / "config"))
    assert done.code == 4
    assert f"The disk of {disk / 'config' / 'iterative-rag' / 'keys.json'} is full" in done.err


WRITING = (
    "index {articles} --corpus towns",
    "index {articles} --corpus new",
    "corpus remove towns --yes",
    "corpus push towns qdrant://127.0.0.1:9",
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


def test_a_file_system_without_a_byte_left_ends_no_process(shell: Command, articles: Path, tmp_path: Path) -> None:
    """Where not even the holes of mapped files can be filled (tmpfs), the system would kill whoever writes there."""
    try:
        with small_disk(tmp_path, 200, "tmpfs") as disk:
            home = {"ITERATIVE_RAG_HOME": str(disk / "home")}
            (articles / "Elm.txt").unlink()  # one short article leaves the most holes
            assert shell("index", str(articles), "--corpus", "towns", **home).code == 0
            fill(disk)  # before anybody has loaded the index: loading fills the holes
            full = shell("search", "river", "--corpus", "towns", **home)
            assert full.code == 0
            assert "Tarn" in full.out
            (articles / "Ash.txt").write_text("Ash is new.")
            refused = shell("index", str(articles), "--corpus", "towns", **home)
            assert refused.code == 4
            assert "is full: 128 MB are needed, " in refused.err
    except CannotMount as reason:
        pytest.skip(f"no small disk can be mounted here: {reason}")
