"""Texts and tables as every form of output shows them, and the length as an option."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.sample_answers import ANSWERED, QUESTION, FakeRAG
from fakes.script_mind import role_of, user_prompt
from iterative_rag.app import factory
from iterative_rag.types import AnswerForm
from tests.cli.conftest import written

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


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends in the long answer."""
    monkeypatch.setattr(factory, "IterativeRAG", FakeRAG(LONG))


def test_a_pipe_gets_the_text_as_it_is_laid_out(run: Command, played: None) -> None:
    said = run("ask", QUESTION).out
    assert said.startswith(
        "Causes\n\nA lamp was left burning [1].\n\n• The wind was <strong> [1].\n• The yards were dry [1].\n\n"
        "|  | Length |\n| --- | --- |\n| Orra Bridge | 40 m [1] |\n"
    )
    assert "caveat  Left out, because no quoted fact proves it: 2 sentences." in said


def test_the_text_as_markdown_and_as_html_is_escaped(run: Command, played: None) -> None:
    markdown = run("ask", QUESTION, "--format", "md").out
    assert "## Causes\n\nA lamp was left burning" in markdown
    assert "| Orra Bridge | 40 m" in markdown
    html = run("ask", QUESTION, "--format", "html").out
    assert "<h2>Causes</h2>" in html
    assert "&lt;strong&gt;" in html
    assert '<tr><th scope="row">Orra Bridge</th><td>40 m [1]</td></tr>' in html


WHY, CAUSE = "Why did the harbour of Karsa burn?", "What caused the Fire of Karsa?"
LAMP = "A watchman had left a lamp burning in the tar store."


def author(body: Mapping[str, Any]) -> str:
    """A model that finds one fact, and claims more than that."""
    match role_of(body):
        case "analyse":
            return json.dumps({"form": "explanation", "status": "needs", "needs": [CAUSE], "last": True})
        case "extract":
            facts = [{"statement": LAMP, "quote": LAMP, "value": ""}] if LAMP in user_prompt(body) else []
            return json.dumps({"facts": facts})
        case "write":
            said = "A watchman had left a lamp burning in the tar store [1]. The mayor lit it himself in 1904 [1]."
            return f"```json\n{json.dumps({'status': 'answered', 'answer': said, 'confidence': 0.9})}\n```"
    return "{}"


def test_a_why_is_asked_of_a_model_server_and_what_it_made_up_is_left_out(
    run: Command, ollama: FakeServer, tmp_path: Path
) -> None:
    ollama.reply = author
    written(tmp_path / "articles", {"Fire.md": f"# Fire of Karsa\n\nThe fire began in the harbour. {LAMP}\n"})
    assert run("index", "articles", "--corpus", "karsa").code == 0
    asked = ("ask", WHY, "--corpus", "karsa", "--llm", "ollama/tiny:8b")
    done, silent = run(*asked), run(*asked, "--quiet")
    assert done.code == 0, done.err
    assert done.out.startswith(f"{LAMP[:-1]} [1].\n")
    assert "1904" not in done.out
    assert "caveat  Left out, because no quoted fact proves it: 1 sentence." in done.out
    assert "not proved  The mayor lit it himself in 1904.: stands in no fact: '1904'" in done.err
    assert "left out; the rest stands" in done.err
    assert silent.out == f"{LAMP[:-1]} [1].\n"
