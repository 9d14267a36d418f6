"""`history` and the exports of an answer, over traces as runs leave them."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.sample_answers import ABSTAINED, ANSWERED, CITATION, check_schema
from iterative_rag.storage.trace import Trace, trace_folder
from iterative_rag.types import Answer

HOSTILE = "<script>alert(1)</script> \x1b[2J\x07‮ [x](javascript:y)"


def leave(run_id: str, answer: Answer | None = ANSWERED, question: str = "", **last: str) -> Path:
    """A trace as a run leaves it: with its answer, with a last event, or cut off."""
    path = trace_folder() / f"{run_id}.jsonl"
    trace = Trace(run_id, [], path)
    asked = question or (answer.question if answer else "Who?")
    trace.write("run_started", run_id=run_id, question=asked, backend="scripted/m", settings={"corpus": "towns"})
    if answer:
        trace.write("final", answer=dataclasses.asdict(dataclasses.replace(answer, question=asked, run_id=run_id)))
    elif last:
        trace.write("fault", **last)
    trace.close()
    return path


def listed(run: Command, *arguments: str) -> list[dict[str, object]]:
    runs = json.loads(run("history", *arguments, "--json").out)["runs"]
    assert isinstance(runs, list)
    return runs


@pytest.fixture
def three() -> None:
    leave("20250101-000000-aaaaaa", question="Which river flows through Porto?")
    leave("20250102-000000-bbbbbb", ABSTAINED, "Who founded Orm?")
    leave("20250103-000000-cccccc", None, "Who was killed?")


def test_earlier_questions_are_listed_with_the_newest_first(run: Command, three: None) -> None:
    done = run("history")
    assert done.code == 0
    questions = re.findall(r"Who was killed|Who founded Orm|Which river", done.out)
    assert questions == ["Who was killed", "Who founded Orm", "Which river"]
    for shown in ("abstained", "unfinished", "Edda Holm", "towns · scripted/m · "):
        assert shown in done.out
    assert re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d  answered", done.out, re.M)


def test_words_of_question_or_answer_choose(run: Command, three: None) -> None:
    assert [past["run_id"] for past in listed(run, "PORTO", "river")] == ["20250101-000000-aaaaaa"]
    assert [past["run_id"] for past in listed(run, "edda")] == ["20250101-000000-aaaaaa"]
    # The quote of a citation holds this word, but neither question nor answer does.
    assert listed(run, "crossing") == []
    assert "No run has these words" in run("history", "crossing").err
    assert len(listed(run, "--limit", "2")) == 2


def test_a_run_is_deleted_by_its_id_and_all_only_when_told_so(run: Command, three: None) -> None:
    refused = run("history", "delete", "--all")
    assert refused.code == 2
    assert "Hint:  iterative-rag history delete --all --yes" in refused.err
    assert run("history", "delete", "../../x", "--yes").code == 2
    assert run("history", "delete", "20250102", "--yes").code == 0
    assert len(listed(run)) == 2
    done = run("history", "delete", "--all", "--yes")
    assert "Deleted 2 runs." in done.err
    assert listed(run) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe not json\n",
        b'{"event": "run_started", "question": 7, "at": "never", "settings": []}\n{"event": "final", "answer": 3}\n',
        b'{"event": "run_started", "question": "Who?"}\n{"event": "final", "answer": {"status": "answered"}}\n',
        b'{"event": "run_started", "question": "Who?"}\n{"event": "llm_call", "seconds": "x"}\n' + b"[" * 100_000,
    ],
)
def test_a_damaged_trace_is_shown_as_such(run: Command, three: None, content: bytes) -> None:
    (trace_folder() / "20250109-000000-eeeeee.jsonl").write_bytes(content)
    done = run("history")
    assert done.code == 0
    assert "20250109-000000-eeeeee" in done.out
    assert "Edda Holm" in done.out
    status, shown, traced = listed(run)[0]["status"], run("history", "show", "last"), run("trace")
    assert status in ("damaged", "unfinished") or b'"answered"' in content
    assert (traced.code, "The trace is damaged" in traced.err) == (0, status == "damaged")
    assert (shown.code, "it is unfinished" in shown.err) == (2, status == "unfinished")
    assert "it is answered" not in shown.err


def test_an_answer_is_exported(run: Command) -> None:
    quote = dataclasses.replace(CITATION, quote=f"{HOSTILE} & more", title="# *A* title")
    leave("20250101-000000-aaaaaa", dataclasses.replace(ANSWERED, citations=(quote,)))
    check_schema(json.loads(run("history", "show", "last", "--format", "json").out))
    page = run("history", "show", "sunday", "bridge", "--format", "html").out
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("<script") == 1  # the data of the proof
    assert "default-src 'none'" in page
    assert not re.search(r'src=|href="[^#]', page)
    text = run("history", "show", "2025", "--format", "md").out
    assert text.startswith("# Who founded the town where the Sunday bridge stands?\n")
    assert "**Edda Holm**" in text
    assert r"\[1\] **\# \*A\* title**" in text
    assert r"\<script\>" in text
    assert "javascript:y" not in text
    assert "- founder of Aldermere → Edda Holm \\[1\\]" in text


# --- completion ----------------------------------------------------------------------------------


def offered(run: Command, line: str) -> list[str]:
    words = line.split(" ")
    number = str(len(words) - 1)
    out = run(_ITERATIVE_RAG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=number).out
    return [line for line in out.split("\n") if line]


def test_the_shell_completes_what_exists(run: Command, articles: Path, three: None) -> None:
    assert run("index", str(articles), "-q", "--corpus", "towns").code == 0
    assert offered(run, "iterative-rag ask --corpus ") == ["towns"]
    assert offered(run, "iterative-rag corpus status ") == ["towns"]
    assert "self-rag" in offered(run, "iterative-rag ask --strategy ")
    assert offered(run, "iterative-rag ask --preset t") == ["thorough"]
    assert "history" in offered(run, "iterative-rag h")
