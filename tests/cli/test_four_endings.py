"""How a question ends that has no answer, typed and from Python: not in the corpus, not worked out, a false
premise, a limit. Each has words and a code of its own, and says what to do next."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.sample_answers import check_schema
from fakes.two_article_corpus import QUESTION, index_articles, play, write_articles

NOWHERE = "Who painted the ceiling of the winter palace in Quorn?"
NEAR = "Who painted the ceiling of the town hall of Aldermere?"
NO_SPOUSE = "Who is the spouse of Edda Holm?"
HOLM = "# Edda Holm\n\n| Edda Holm | |\n|---|---|\n| Born | 1959 |\n| Spouse | none |\n\nEdda Holm is a politician.\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("endings")
    write_articles(base / "articles")
    (base / "articles" / "Edda_Holm.md").write_text(HOLM, encoding="utf-8")
    return index_articles(base)


@pytest.fixture(autouse=True)
def _home(indexed: Path, tmp_path: Path) -> None:
    shutil.copytree(indexed, tmp_path / "home")


def as_json(run: Command, question: str, *options: str, **environment: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(run("ask", question, "--json", *options, **environment).out)
    check_schema(made)
    for passage in made["nearest"] + made["citations"]:
        text = Path(passage["source"]).read_text(encoding="utf-8")
        assert text[passage["start"] : passage["end"]] == passage["quote"]
    return made


# --- the built-in backend ---------------------------------------------------------------------


def test_not_in_the_corpus(run: Command) -> None:
    done = run("ask", NOWHERE, "--llm", "builtin")
    assert done.code == 3
    assert done.out.startswith("Not found in the corpus: Nothing near was found for: ")
    assert "What comes nearest" not in done.out
    assert "--guess" not in done.out
    assert "search 'Who painted the ceiling of the winter palace in Quorn?'" in done.out
    made = as_json(run, NOWHERE, "--llm", "builtin")
    assert (made["status"], made["reason_code"], made["nearest"]) == ("abstained", "not_in_corpus", [])
    assert made["confidence_word"] is None


def test_another_corpus_than_the_one_that_was_asked_unsaid_is_named(run: Command, tmp_path: Path) -> None:
    assert "another corpus" not in run("ask", NOWHERE, "--llm", "builtin").out
    article = tmp_path / "Quorn.md"
    article.write_text("# Quorn\n\nQuorn has a winter palace.\n", encoding="utf-8")
    run("index", str(article), "--corpus", "palaces")
    assert (
        f"another corpus: iterative-rag ask '{NOWHERE}' --corpus palaces" in run("ask", NOWHERE, "--llm", "builtin").out
    )
    assert "another corpus" not in run("ask", "Who was Ann Lee of Tell?", "--corpus", "palaces", "--llm", "builtin").out


def test_not_worked_out_shows_what_comes_nearest_and_what_to_type(run: Command) -> None:
    """It said that the corpus does not hold what the built-in model had merely not understood."""
    done = run("ask", NEAR, "--llm", "builtin")
    assert done.code == 3
    assert done.out.startswith("Not worked out: Passages that come near were found")
    assert "What comes nearest:\n[1] " in done.out
    assert "Aldermere.md, characters " in done.out
    assert "other words, or one fact at a time" in done.out
    assert "  a guess: --guess\n" in done.out
    assert "  an LLM: --llm ollama/" in done.out
    made = as_json(run, NEAR, "--llm", "builtin")
    assert (made["status"], made["reason_code"], made["short_answer"]) == ("abstained", "not_worked_out", "")
    assert 1 <= len(made["nearest"]) <= 3
    assert [passage["n"] for passage in made["nearest"]] == list(range(1, len(made["nearest"]) + 1))


def test_articles_that_the_corpus_lacks_are_named_with_what_fetches_them(run: Command) -> None:
    command = "iterative-rag corpus fetch Quorn"
    assert f"  The corpus has no article “Quorn”: {command}\n" in run("ask", NOWHERE, "--llm", "builtin").out
    wanted = [{"title": "Quorn", "command": "iterative-rag corpus fetch Quorn"}]
    assert as_json(run, NOWHERE, "--llm", "builtin")["missing_articles"] == wanted
    assert "iterative-rag corpus fetch Quorn" in run("history", "show", "last", "--format", "md").out
    assert as_json(run, NEAR, "--llm", "builtin")["missing_articles"] == []  # Aldermere is there
    assert as_json(run, QUESTION, "--llm", "builtin")["missing_articles"] == []


def test_no_step_says_that_the_facts_answer_what_is_then_refused(run: Command) -> None:
    assert "the facts so far answer" not in run("ask", NEAR, "--llm", "builtin").err


def test_a_false_premise_is_shown_with_the_quote(run: Command) -> None:
    done = run("ask", NO_SPOUSE, "--llm", "builtin")
    assert done.code == 3
    assert done.out.startswith("False premise: The question assumes something untrue: ")
    assert "[1]" in done.out.splitlines()[0]
    assert "“Spouse: none”" in done.out
    made = as_json(run, NO_SPOUSE, "--llm", "builtin")
    assert (made["status"], made["reason_code"]) == ("abstained", "false_premise")
    assert "none" in made["citations"][0]["quote"]


def test_a_limit_is_told_with_the_option_that_raises_it(run: Command) -> None:
    done = run("ask", QUESTION, "--llm", "builtin", "--max-hops", "1")
    assert done.code == 6
    assert done.out.startswith("Incomplete: The run reached its limit of 1 hops.")
    assert "--max-hops 2\n" in done.out
    assert as_json(run, QUESTION, "--llm", "builtin", "--max-hops", "1")["reason_code"] == "limit"


def test_the_endings_are_in_the_history_and_in_exports(run: Command) -> None:
    run("ask", NEAR, "--llm", "builtin")
    (past,) = json.loads(run("history", "--json").out)["runs"]
    assert (past["reason_code"], past["confidence_word"]) == ("not_worked_out", None)
    assert "Not worked out: Passages that come near" in run("history").out
    assert "What comes nearest:" in run("history", "show", "last").out
    assert "Not worked out: Passages" in run("trace", "last").out
    exported = run("history", "show", "last", "--format", "md").out
    assert "**Not worked out:** Passages" in exported
    assert "What comes nearest:" in exported
    assert "<h2>What comes nearest</h2>" in run("history", "show", "last", "--format", "html").out


# --- an LLM -----------------------------------------------------------------------------------

BRIDGE = "In which town does the Sunday bridge stand?"
BAKER = "Who is the baker of Aldermere?"


def refusing(body: Mapping[str, Any], *, known: bool, status: str = "not_in_facts") -> str:
    """Finds the town of the bridge, and refuses: for a need that brought nothing, or though nothing is missing."""
    prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] != "system")
    asked = body["format"]["properties"]
    if "working" in asked:
        reply = {"status": status, "answer": "It is in Aldermere [1].", "missing": "the baker is not named"}
        return json.dumps({**reply, "short_answer": "", "confidence": 0.2})
    if "needs" in asked and "stone bridge in Aldermere" in prompt:
        further = {"status": "known", "needs": []} if known else {"status": "needs", "needs": [BAKER]}
        return json.dumps({**further, "question": BAKER})
    if "facts" in asked and BAKER.rstrip("?") in prompt:
        return json.dumps({"facts": []})
    return play(body["format"], prompt)


@pytest.mark.parametrize(
    ("known", "status", "code", "beginning"),
    [
        (False, "not_in_facts", "not_in_corpus", "Not found in the corpus: the baker is not named"),
        (True, "not_in_facts", "not_worked_out", "Not worked out: the baker is not named"),
        (True, "false_premise", "false_premise", "False premise: The question assumes something untrue: the baker"),
    ],
)
def test_with_an_llm_the_run_decides_and_not_its_words(
    run: Command, ollama: FakeServer, known: bool, status: str, code: str, beginning: str
) -> None:
    ollama.reply = lambda body: refusing(body, known=known, status=status)
    question = "Who is the baker of the town where the Sunday bridge stands?"
    options = ("--llm", "ollama/tiny:8b")
    done = run("ask", question, *options)
    assert done.code == 3, done.err
    assert done.out.startswith(beginning)
    assert "[1] Sunday bridge" in done.out
    made = as_json(run, question, *options)
    assert made["reason_code"] == code
    if code != "false_premise":
        assert made["answer"] == f"Found so far: {BRIDGE} Aldermere [1]"
        assert made["answer"] in done.out
    assert bool(made["nearest"]) == (code == "not_worked_out")
