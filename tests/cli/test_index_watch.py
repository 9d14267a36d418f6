"""`index --watch` as a process of its own over files that really change: what it tells, and how it stops."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from iterative_rag.sources.folder import settled_changes, states_of

SECONDS = 150  # until a test gives up


class Watching:
    """A running `index --watch --json`, whose events are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until(self, name: str) -> list[dict[str, Any]]:
        """The events up to the next one of this name."""
        assert self.process.stdout is not None
        events: list[dict[str, Any]] = []
        for line in self.process.stdout:
            events.append(json.loads(line))
            if events[-1]["event"] == name:
                return events
        raise AssertionError(f"it ended without {name!r}: {events}")

    def until_told(self, expected: set[tuple[str, str]]) -> list[dict[str, Any]]:
        """The events of as many updates as it took to tell these, and nothing else, of the files."""
        events: list[dict[str, Any]] = []
        while told(events) != expected:
            events += self.until("updated")
            assert told(events) <= expected
        return [event for event in events if event["event"] == "updated"]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def watching(folder: Path, *options: str) -> Iterator[Watching]:
    command = [sys.executable, "-m", "iterative_rag", "index", str(folder), "--corpus", "c", "--watch", "--json"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        alarm = threading.Timer(SECONDS, process.kill)
        alarm.start()
        try:
            yield Watching(process)
        finally:
            alarm.cancel()
            process.kill()


def told(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(event["event"], Path(event["source"]).name) for event in events if "source" in event}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bridge.md").write_text("# Bridge\n\nThe Sunday bridge was opened in 1310.\n")
    (folder / "town.md").write_text("# Town\n\nAldermere is a market town.\n")
    return folder


def test_changes_are_told_and_found_while_it_goes_on(folder: Path, run: Command) -> None:
    with watching(folder) as watch:
        first = watch.until("watching")
        assert (first[0]["event"], first[0]["added"]) == ("updated", 2)
        (folder / "mayor.md").write_text("# Mayor\n\nEdda Holm is the mayor.\n")
        (folder / "town.md").write_text("# Town\n\nAldermere is a city now.\n")
        (folder / "bridge.md").unlink()
        (folder / "loop").symlink_to(folder, target_is_directory=True)
        (folder / "broken.pdf").symlink_to(folder / "nowhere.pdf")
        updates = watch.until_told(
            {
                ("added", "mayor.md"),
                ("changed", "town.md"),
                ("removed", "bridge.md"),
                ("skipped", "loop"),
                ("skipped", "broken.pdf"),
            }
        )
        assert [sum(one[kind] for one in updates) for kind in ("added", "changed", "removed")] == [1, 1, 1]
        # Between two updates the lock is free, for readers and for other writers.
        hits = json.loads(run("search", "mayor", "--corpus", "c", "--json").out)
        assert hits[0]["title"] == "Mayor"
        assert run("index", str(folder), "--corpus", "c").code == 0
        assert watch.stop() == 0
        assert watch.until("stopped")


def test_a_wrong_path_ends_it_at_once(run: Command, folder: Path) -> None:
    assert run("index", str(folder / "none"), "--watch").code == 4
    assert run("index", str(folder), "--watch", "--engine", "ray").code == 2


def test_json_tells_what_one_update_did_as_well(run: Command, folder: Path) -> None:
    (folder / "empty.md").touch()
    skipped, updated = map(json.loads, run("index", str(folder), "--json").out.splitlines())
    assert (skipped["event"], skipped["reason"]) == ("skipped", "It is empty.")
    assert (updated["event"], updated["added"], updated["skipped"]) == ("updated", 2, 1)


# --- when changes have settled ----------------------------------------------------------------


class Looks:
    """Counts looks at the files; before the first of them the file gets its next content."""

    def __init__(self, path: Path, writes: int) -> None:
        self.path, self.writes, self.count = path, writes, 0

    def __call__(self) -> bool:
        self.count += 1
        if self.count <= self.writes:
            with self.path.open("a") as file:
                file.write("More. ")
        return self.count > 1000


def test_a_file_that_is_being_written_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iterative_rag.sources.folder.LOOK_SECONDS", 0)
    monkeypatch.setattr("iterative_rag.sources.folder.SETTLE_SECONDS", 0)
    known = states_of([folder])
    looks = Looks(folder / "town.md", writes=12)
    found = settled_changes([folder], known, looks)
    assert looks.count > 12
    assert found == states_of([folder]) != known
