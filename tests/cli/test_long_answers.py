"""Texts and tables as every form of output shows them, and the length as an option."""

from __future__ import annotations

import dataclasses
import json

import pytest

from fakes.command_line import Command
from fakes.sample_answers import ANSWERED, QUESTION, FakeRAG
from iterative_rag import factory
from iterative_rag.types import Answer, AnswerForm

TEXT = """## Causes

A lamp was left burning [1].

- The wind was <strong> [1].
- The yards were dry [1].

|  | Length |
| --- | --- |
| Orra Bridge | 40 m [1] |"""
LONG = dataclasses.replace(
    ANSWERED,
    text=TEXT,
    short_answer="",
    form=AnswerForm.REPORT,
    chain=(),
    computations=(),
    confidence_word=None,
    caveats=("Left out, because no quoted fact proves it: 2 sentences.",),
)


@pytest.fixture(autouse=True)
def _play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "IterativeRAG", FakeRAG(LONG))


def test_a_pipe_gets_the_text_as_it_is_laid_out(run: Command) -> None:
    said = run("ask", QUESTION).out
    assert said.startswith(
        "Causes\n\nA lamp was left burning [1].\n\n• The wind was <strong> [1].\n• The yards were dry [1].\n\n"
        "|  | Length |\n| --- | --- |\n| Orra Bridge | 40 m [1] |\n"
    )
    assert "caveat  Left out, because no quoted fact proves it: 2 sentences." in said


def test_the_text_as_markdown_and_as_html_is_escaped(run: Command) -> None:
    markdown = run("ask", QUESTION, "--format", "md").out
    assert "## Causes\n\nA lamp was left burning" in markdown
    assert "| Orra Bridge | 40 m" in markdown
    html = run("ask", QUESTION, "--format", "html").out
    assert "<h2>Causes</h2>" in html
    assert "&lt;strong&gt;" in html
    assert '<tr><th scope="row">Orra Bridge</th><td>40 m [1]</td></tr>' in html


def test_json_tells_the_form_and_quiet_prints_the_text(run: Command) -> None:
    printed = json.loads(run("ask", QUESTION, "--json").out)
    assert (printed["form"], printed["short_answer"], printed["answer"]) == ("report", "", TEXT)
    assert "A lamp was left burning" in run("ask", QUESTION, "--quiet").out


def test_an_unknown_length_is_refused_with_the_known_ones(run: Command) -> None:
    done = run("ask", QUESTION, "--length", "endless")
    assert done.code == 2
    assert "--length endless is not valid" in done.err
    assert "'short', 'paragraph' or 'report'" in done.err


def test_the_whole_answer_follows_the_schema(run: Command) -> None:
    from importlib.resources import files

    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((files("iterative_rag") / "answer.schema.json").read_text())
    jsonschema.validate(json.loads(run("ask", QUESTION, "--json").out), schema)
    assert isinstance(LONG, Answer)
