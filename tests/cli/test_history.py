"""`history` and the exports of an answer, as processes of their own over traces as runs leave them."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from fakes.command_line import Command, TerminalCommand
from fakes.sample_answers import ABSTAINED, ANSWERED, CITATION, check_schema
from iterative_rag.trace import Trace, trace_folder
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


def listed(shell: Command, *arguments: str) -> list[dict[str, object]]:
    runs = json.loads(shell("history", *arguments, "--json").out)["runs"]
    assert isinstance(runs, list)
    return runs


@pytest.fixture
def three() -> None:
    leave("20250101-000000-aaaaaa", question="Which river flows through Porto?")
    leave("20250102-000000-bbbbbb", ABSTAINED, "Who founded Orm?")
    leave("20250103-000000-cccccc", None, "Who was killed?")


def test_earlier_questions_are_listed_with_the_newest_first(shell: Command, three: None) -> None:
    done = shell("history")
    assert done.code == 0
    questions = re.findall(r"Who was killed|Who founded Orm|Which river", done.out)
    assert questions == ["Who was killed", "Who founded Orm", "Which river"]
    for shown in (
        "answered",
        "abstained",
        "unfinished",
        "Edda Holm",
        "towns · scripted/m · 5 LLM calls · 1,290 tokens",
    ):
        assert shown in done.out
    assert re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d  answered", done.out, re.M)


def test_words_of_question_or_answer_choose(shell: Command, three: None) -> None:
    assert [run["run_id"] for run in listed(shell, "PORTO", "river")] == ["20250101-000000-aaaaaa"]
    assert [run["run_id"] for run in listed(shell, "edda")] == ["20250101-000000-aaaaaa"]
    # The quote of a citation holds this word, but neither question nor answer does.
    assert listed(shell, "crossing") == []
    assert "No run has these words" in shell("history", "crossing").err
    assert len(listed(shell, "--limit", "2")) == 2


def test_no_question_yet(shell: Command) -> None:
    done = shell("history")
    assert done.code == 0
    assert done.err.strip() == "No question yet."


def test_a_run_is_deleted_by_its_id_and_all_only_when_told_so(shell: Command, three: None) -> None:
    refused = shell("history", "delete", "--all")
    assert refused.code == 2
    assert "Hint:  iterative-rag history delete --all --yes" in refused.err
    assert shell("history", "delete", "../../x", "--yes").code == 2
    assert shell("history", "delete", "20250102", "--yes").code == 0
    assert len(listed(shell)) == 2
    done = shell("history", "delete", "--all", "--yes")
    assert "Deleted 2 runs." in done.err
    assert listed(shell) == []


def test_a_trace_is_found_by_words(shell: Command, three: None) -> None:
    assert "20250101-000000-aaaaaa" in shell("trace", "river", "porto").out
    leave("20250104-000000-dddddd", question="Which river flows through Aldermere?")
    done = shell("trace", "which", "river")
    assert "Aldermere" in done.out
    assert "The newest of 2 runs with these words; all: iterative-rag history which river" in done.err
    assert shell("trace", "zebra").code == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe not json\n",
        b'[1, 2]\n"x"\n',
        b'{"event": "run_started", "question": 7, "at": "never", "settings": []}\n{"event": "final", "answer": 3}\n',
        b'{"event": "run_started", "question": "Who?"}\n{"event": "final", "answer": {"usage": {"seconds": "x"}}}\n',
        b'{"event": "run_started", "question": "Who?"}\n{"event": "llm_call", "seconds": "x"}\n' + b"[" * 100_000,
    ],
)
def test_a_damaged_trace_is_shown_as_such(shell: Command, three: None, content: bytes) -> None:
    (trace_folder() / "20250109-000000-eeeeee.jsonl").write_bytes(content)
    done = shell("history")
    assert done.code == 0
    assert "20250109-000000-eeeeee" in done.out
    assert "Edda Holm" in done.out
    assert listed(shell)[0]["status"] in ("damaged", "unfinished")
    assert shell("trace").code == 0
    assert shell("history", "show", "last").code == 2


def test_a_trace_of_an_older_version_is_listed(shell: Command) -> None:
    trace_folder().mkdir(parents=True)
    (trace_folder() / "20240101-x.jsonl").write_text(
        '{"event": "run_started", "question": "Who?", "mind": "builtin"}\n'
        '{"event": "final", "answer": {"text": "Edda", "status": "answered"}}\n'
    )
    (run,) = listed(shell)
    assert (run["status"], run["short_answer"], run["backend"], run["corpus"]) == ("answered", "Edda", "builtin", "")


def test_what_a_trace_holds_cannot_control_the_terminal(on_a_terminal: TerminalCommand) -> None:
    leave("20250101-000000-aaaaaa", dataclasses.replace(ANSWERED, short_answer=HOSTILE, text=HOSTILE), HOSTILE)
    for command in (["history"], ["history", "show", "last"], ["trace"], ["history", "show", "last", "--format", "md"]):
        shown = on_a_terminal(command)
        assert "alert(1)" in shown
        assert not {"\x1b[2J", "\x07", "‮"} & set(re.findall(r"\x1b\[2J|\x07|‮", shown))


def test_an_answer_is_exported(shell: Command) -> None:
    quote = dataclasses.replace(CITATION, quote=f"{HOSTILE} & more", title="# *A* title")
    leave("20250101-000000-aaaaaa", dataclasses.replace(ANSWERED, citations=(quote,)))
    check_schema(json.loads(shell("history", "show", "last", "--format", "json").out))
    page = shell("history", "show", "sunday", "bridge", "--format", "html").out
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=", page)
    text = shell("history", "show", "2025", "--format", "md").out
    assert text.startswith("# Who founded the town where the Sunday bridge stands?\n")
    assert "**Edda Holm**" in text
    assert r"\[1\] **\# \*A\* title**" in text
    assert r"\<script\>" in text
    assert "javascript:y" not in text
    assert "- founder of Aldermere → Edda Holm \\[1\\]" in text
    assert "<li>founder of Aldermere → Edda Holm [1]</li>" in page


def test_the_markdown_of_a_model_is_not_shown_as_written(shell: Command) -> None:
    text = "**Aldermere** was founded by *Edda Holm* [1].\n\n- `so it is` [1]"
    also, caveats = ("1905, **by the inscription** [1]",), ("The `rows` are not in the text.",)
    leave("20250101-000000-aaaaaa", dataclasses.replace(ANSWERED, text=text, also=also, caveats=caveats))
    out = shell("history", "show", "last").out
    assert out.startswith("Aldermere was founded by Edda Holm [1].\nso it is [1]\n")
    assert "also  1905, by the inscription [1]\ncaveat  The rows are not in the text.\n" in out
    page = shell("history", "show", "last", "--format", "html").out
    assert "<p>Aldermere was founded by <strong>Edda Holm</strong> [1].</p>\n<p>so it is [1]</p>" in page
    assert "<p>also: 1905, by the inscription [1]</p>\n<p>caveat: The rows are not in the text.</p>" in page
    assert json.loads(shell("history", "show", "last", "--format", "json").out)["answer"] == text


def test_ask_prints_in_the_chosen_format(shell: Command, articles: Path) -> None:
    assert shell("index", str(articles), "-q").code == 0
    ask = ("ask", "Who founded Aldermere?", "--llm", "builtin", "--corpus", "default")
    assert shell(*ask, "--format", "md").out.startswith("# Who founded Aldermere?\n")
    check_schema(json.loads(shell(*ask, "--format", "json").out))
    assert shell(*ask, "--json", "--format", "md").code == 2


# --- completion ----------------------------------------------------------------------------------


def offered(shell: Command, line: str) -> list[str]:
    words = line.split(" ")
    number = str(len(words) - 1)
    out = shell(_ITERATIVE_RAG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=number).out
    return [line for line in out.split("\n") if line]


def test_the_shell_completes_what_exists(shell: Command, articles: Path, three: None) -> None:
    assert shell("index", str(articles), "-q", "--corpus", "towns").code == 0
    assert offered(shell, "iterative-rag ask --corpus ") == ["towns"]
    assert offered(shell, "iterative-rag corpus status ") == ["towns"]
    assert offered(shell, "iterative-rag show --corpus towns sun") == ["sunday bridge"]
    assert offered(shell, "iterative-rag show --corpus towns Sunday b") == ["bridge"]
    assert offered(shell, "iterative-rag show --corpus none S") == []
    assert offered(shell, "iterative-rag trace 20250101") == ["20250101-000000-aaaaaa"]
    assert offered(shell, "iterative-rag history delete l") == ["last"]
    assert "self-rag" in offered(shell, "iterative-rag ask --strategy ")
    assert offered(shell, "iterative-rag ask --preset t") == ["thorough"]
    assert "ollama/" in offered(shell, "iterative-rag ask --llm ")
    assert "history" in offered(shell, "iterative-rag h")
