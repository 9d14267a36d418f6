"""`trace`: what a run wrote comes back as it was."""

from __future__ import annotations

import dataclasses
import json

import pytest

from fakes.command_line import Command
from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, NEED, QUESTION, steps_to
from iterative_rag.storage.past_runs import step_of
from iterative_rag.storage.trace import Trace, trace_folder
from iterative_rag.types import Step

STEPS = [step for answer in (ANSWERED, ABSTAINED, CAPPED) for step in steps_to(answer)]


def _name(step: object) -> str:
    return type(step).__name__.removesuffix("Step").lower()


def _write(run_id: str, *, fault: bool = False) -> None:
    trace = Trace(run_id, [trace_folder() / f"{run_id}.jsonl"])
    trace.write("run_started", run_id=run_id, question=QUESTION, backend="scripted", settings={})
    call = {"role": "analyse", "model": "m", "system": "be brief", "prompt": "the prompt", "seconds": 0.5}
    trace.write("llm_call", **call, reply="the reply", prompt_tokens=9, completion_tokens=3)
    trace.write("llm_call", **call, error="LLMTimeout: no reply in time")
    trace.write("cache_hit", what="extract")
    for step in steps_to(ANSWERED)[: 3 if fault else None]:
        trace.write(_name(step), **dataclasses.asdict(step))
    if fault:
        trace.write("fault", error="LLMUnreachable", message="No server answers.", hint="ollama serve")
    trace.close()


@pytest.mark.parametrize("step", STEPS, ids=_name)
def test_an_event_becomes_the_step_that_it_was(step: Step) -> None:
    event = {"event": _name(step), **json.loads(json.dumps(dataclasses.asdict(step)))}
    assert step_of(event) == step


def test_the_last_run_is_replayed_hop_by_hop(run: Command) -> None:
    _write("20250101-000000-aaaaaa", fault=True)
    _write("20250102-000000-bbbbbb")
    done = run("trace")
    assert done.code == 0
    shown = (
        "bbbbbb",
        QUESTION,
        "hop 1",
        NEED.question,
        "→ Who founded Aldermere?",
        "Edda Holm",
    )
    for words in (*shown, "analyse · m · 9 + 3 tokens", "LLMTimeout: no reply in time", "[1] Sunday bridge"):
        assert words in done.out
    assert "the prompt" not in done.out


def test_calls_shows_prompts_and_replies(run: Command) -> None:
    _write("20250102-000000-bbbbbb")
    out = run("trace", "last", "--calls").out
    for words in ("be brief", "the prompt", "the reply"):
        assert words in out


def test_a_run_is_named_by_the_beginning_of_its_id(run: Command) -> None:
    _write("20250101-000000-aaaaaa", fault=True)
    _write("20250102-000000-bbbbbb")
    done = run("trace", "20250101")
    assert "LLMUnreachable: No server answers." in done.out
    assert "Hint: ollama serve" in done.out


def test_json_prints_the_lines(run: Command) -> None:
    _write("20250102-000000-bbbbbb")
    events = [json.loads(line) for line in run("trace", "--json").out.splitlines()]
    assert events[0]["event"] == "run_started"
    assert events[-1]["event"] == "final"


def test_a_trace_that_broke_off_is_shown_as_far_as_it_goes(run: Command) -> None:
    _write("20250102-000000-bbbbbb")
    path = trace_folder() / "20250102-000000-bbbbbb.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    done = run("trace")
    assert done.code == 0
    assert "hop 1" in done.out
    assert "not written to its end" in done.out


@pytest.mark.parametrize("which", ["last", "2025"])
def test_no_such_run_is_wrong_usage(run: Command, which: str) -> None:
    if which != "last":
        _write("20250102-000000-bbbbbb")
        which = "1999"
    done = run("trace", which)
    assert done.code == 2
    assert "Hint:" in done.err
