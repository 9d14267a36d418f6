"""The trace: complete while the run goes on, readable after a crash, private."""

from __future__ import annotations

import dataclasses
import json
import stat
import threading
from pathlib import Path

from iterative_rag.storage.past_runs import Event, events_of, find_runs, step_of
from iterative_rag.storage.trace import Trace, event_name, trace_folder
from iterative_rag.types import Grade, GradingStep, Label, Need, Verdict


def test_each_event_is_on_disk_before_the_next(tmp_path: Path) -> None:
    trace = Trace("a", [tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    trace.write("analysis", question="Who?")
    for name in ("a", "b"):
        assert json.loads((tmp_path / f"{name}.jsonl").read_text())["question"] == "Who?"
    trace.close()
    trace.write("late", note="dropped")
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 1


def test_a_trace_is_for_its_owner_only(tmp_path: Path) -> None:
    Trace("a", [tmp_path / "deep" / "a.jsonl"])
    assert stat.S_IMODE((tmp_path / "deep" / "a.jsonl").stat().st_mode) == 0o600


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    trace = Trace("a", [tmp_path / "a.jsonl"])

    def write(n: int) -> None:
        for _ in range(50):
            trace.write("llm_call", n=n, text="x" * 5000)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert len(rows) == 400


def events(name: str = "last") -> list[Event]:
    return events_of(find_runs(name)[0])


def test_a_line_cut_off_by_a_kill_does_not_hide_the_others() -> None:
    trace_folder().mkdir(parents=True)
    (trace_folder() / "20250101-x.jsonl").write_text('{"event": "analysis"}\n{"event": "sho')
    assert [event["event"] for event in events()] == ["analysis", "unreadable"]


def test_grades_that_are_fewer_than_their_documents_are_damaged() -> None:
    step = GradingStep(1, Need("Who?"), ("Sarn",), (Grade(0.9, Label.PERFECT, "it says so"),), Verdict.CORRECT)
    event = json.loads(json.dumps({"event": event_name(GradingStep), **dataclasses.asdict(step)}))
    assert step_of(event) == step
    assert step_of(event | {"grades": []}) is None
