"""Questions and documents in other languages: told where the built-in models cannot read them, answered by an LLM."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.script_mind import role_of, user_prompt
from tests.cli.conftest import written

QUESTION = "Wer ist die Bürgermeisterin von Aldermere?"
QUOTE = "Die Bürgermeisterin von Aldermere ist Edda Holm."
TOWN = (
    f"# Aldermere\n\nAldermere ist eine kleine Stadt im Westen des Landes. {QUOTE} Der Lorn fließt durch die Stadt.\n"
)
SAID = {
    "German": ("Edda Holm ist die Bürgermeisterin von Aldermere [1].", "Edda Holm"),
    "French": ("Edda Holm est la maire d'Aldermere [1].", "Edda Holm"),
}


def play(body: Mapping[str, Any]) -> str:
    """Plays every role, and answers in the language that the prompt names."""
    user = user_prompt(body)
    match role_of(body):
        case "analyse":
            return json.dumps({"reason": "", "status": "needs", "needs": [QUESTION], "last": True})
        case "extract":
            fact = {"statement": QUOTE, "quote": QUOTE, "value": "Edda Holm", "need": 1}
            return json.dumps({"facts": [fact] if QUOTE in user else []})
        case "answer":
            named = re.search(r'^Write "answer", .* in (\w+)\. ', user, re.MULTILINE)
            assert named
            answer, short = SAID[named[1]]
            return json.dumps({"status": "answered", "answer": answer, "short_answer": short, "confidence": 0.9})
    return "{}"


@pytest.fixture
def german(tmp_path: Path) -> Path:
    return written(tmp_path / "stadt", {"Aldermere.md": TOWN})


def test_a_question_that_the_builtin_models_do_not_read_is_refused_with_what_to_type(
    run: Command, german: Path
) -> None:
    assert run("index", str(german), "-q").code == 0
    done = run("ask", QUESTION, "--llm", "builtin")
    assert (done.code, done.out) == (2, "")
    assert "The built-in models read English only, and this question is German." in done.err
    for typed in ("Put it in English", "--llm ollama/", "--language en"):
        assert typed in done.err


def test_documents_in_another_language_are_told_at_indexing(run: Command, german: Path) -> None:
    done = run("index", str(german))
    assert done.code == 0
    assert "Note: Most of these documents are German, and the built-in models read English only" in done.err
    assert "--embedder ollama/" in done.err
    assert json.loads(run("corpus", "list", "--json").out)["corpora"][0]["languages"] == {"de": 1}
    forced = run("ask", QUESTION, "--llm", "builtin", "--language", "en")
    assert forced.code in {0, 3}


@pytest.mark.parametrize(("options", "said"), [([], SAID["German"]), (["--answer-language", "fr"], SAID["French"])])
def test_an_llm_answers_in_the_language_of_the_question_unless_told_otherwise(
    run: Command, german: Path, ollama: FakeServer, options: list[str], said: tuple[str, str]
) -> None:
    ollama.reply = play
    assert run("index", str(german), "-q").code == 0
    ask = ("ask", QUESTION, "--llm", "ollama/tiny:8b", *options)
    made = json.loads(run(*ask, "--json").out)
    assert (made["answer"], made["short_answer"]) == said
    assert [citation["quote"] for citation in made["citations"]] == [QUOTE]
    assert made["chain"] == [{"asked": QUESTION, "found": "Edda Holm", "citations": [1], "builds_on": []}]
    assert run(*ask).out.startswith(said[0])
