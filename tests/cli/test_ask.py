"""`ask` with a run that is played back: what is printed where, and every exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, FACT, FAULTY, NEED, QUESTION, FakeRAG
from iterative_rag.app import factory
from iterative_rag.cli import main
from iterative_rag.errors import CorpusNotFound, IterativeRAGError, LLMUnreachable, ModelMissing, UsageError
from iterative_rag.types import Answer


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeRAG]:
    def install(outcome: object, notice: str = "") -> FakeRAG:
        fake = FakeRAG(outcome, notice)  # type: ignore[arg-type]
        monkeypatch.setattr(factory, "IterativeRAG", fake)
        return fake

    return install


def test_the_answer_goes_to_stdout_and_the_hops_to_stderr(run: Command, play: Callable[..., FakeRAG]) -> None:
    fake = play(ANSWERED, notice="Ollama does not answer; the built-in backend is used.")
    done = run("ask", QUESTION)
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        ANSWERED.text,
        "  In which town does the Sunday bridge stand? → Aldermere [1]",
        "  founder of Aldermere → Edda Holm [1]",
        "  1912 − 1825 = 87 [1]",
    ]
    assert "[1] Sunday bridge" in done.out
    assert f"“{FACT.quote}”" in done.out
    assert "characters 10–64" in done.out
    assert "5 LLM calls" in done.out
    assert "1,234 + 56 tokens" in done.out
    assert "hop 1" not in done.out
    for shown in ("the built-in backend is used", "hop 1", NEED.question, "Aldermere", "→  Who founded Aldermere?"):
        assert shown in done.err
    assert fake.closed


def test_a_hop_shows_what_did_not_work(run: Command, play: Callable[..., FakeRAG]) -> None:
    play(CAPPED)
    err = run("ask", QUESTION).err
    assert "no fact 2" in err
    assert "2 windows read, 1 could not be read, 1 quote not in the text and dropped" in err
    assert "not read  Register: a reply could not be read" in err
    assert "stuck  nothing left to try" in err


@pytest.mark.parametrize(("outcome", "code"), [(ANSWERED, 0), (ABSTAINED, 3), (CAPPED, 6), (FAULTY, 5)])
def test_each_outcome_has_its_exit_code(run: Command, play: Callable[..., FakeRAG], outcome: Answer, code: int) -> None:
    play(outcome)
    done = run("ask", QUESTION)
    assert done.code == code
    if outcome.reason:
        assert outcome.reason in done.out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("The question is empty.", hint="Ask one."), 2),
        (CorpusNotFound("There is no corpus 'x'.", hint="iterative-rag corpus"), 4),
        (LLMUnreachable("No server answers.", hint="ollama serve"), 5),
        (ModelMissing("The server has no model m.", hint="ollama pull m"), 5),
    ],
)
def test_an_error_is_one_sentence_and_a_hint(
    run: Command, play: Callable[..., FakeRAG], error: IterativeRAGError, code: int
) -> None:
    play(error)
    done = run("ask", QUESTION)
    assert done.code == code
    assert done.out == ""
    assert f"Error: {error}" in done.err
    assert f"Hint:  {error.hint}" in done.err
    assert "Traceback" not in done.err


def test_an_unforeseen_error_is_a_sentence_too(run: Command, play: Callable[..., FakeRAG]) -> None:
    play(RuntimeError("a bug"))
    done = run("ask", QUESTION)
    assert done.code == 1
    assert "Error: Unexpected RuntimeError: a bug" in done.err
    assert "--debug" in done.err


@pytest.mark.parametrize("arguments", [("--debug", "ask", "Who is it?"), ("Who is it?", "--debug")])
def test_debug_lets_the_error_through(play: Callable[..., FakeRAG], arguments: tuple[str, ...]) -> None:
    play(RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        main(arguments)


def test_quiet_prints_the_short_answer_alone(run: Command, play: Callable[..., FakeRAG]) -> None:
    play(ANSWERED, notice="a notice")
    done = run("ask", QUESTION, "--quiet")
    assert (done.out, done.err) == ("Edda Holm\n", "")


def test_quiet_abstention_says_why(run: Command, play: Callable[..., FakeRAG]) -> None:
    play(ABSTAINED)
    assert run("ask", QUESTION, "-q").out == f"Not found in the corpus: {ABSTAINED.reason}\n"


@pytest.mark.parametrize(
    "arguments", [("Who was it?",), ("Who", "was", "it?"), ("--quiet", "Who was it?"), ("ask", "--", "Who was it?")]
)
def test_a_bare_question_is_ask(run: Command, play: Callable[..., FakeRAG], arguments: tuple[str, ...]) -> None:
    fake = play(ANSWERED)
    assert run(*arguments).code == 0
    assert fake.asked == ["Who was it?"]


def test_a_dash_reads_stdin(run: Command, play: Callable[..., FakeRAG]) -> None:
    fake = play(ANSWERED)
    assert run("-", stdin="Who was\nit?\n").code == 0
    assert fake.asked == ["Who was\nit?"]


def test_options_become_settings(run: Command, play: Callable[..., FakeRAG]) -> None:
    fake = play(ANSWERED)
    options = (
        "--corpus c --llm builtin --fast-llm ollama/m --embedder builtin --preset fast --max-hops 2 --fact-limit 5"
    )
    limits = "--max-calls 7 --max-tokens 900 --max-seconds 1.5 --no-cache"
    run("ask", "Who is it?", *options.split(), *limits.split())
    used = fake.settings
    assert (used.corpus, used.llm, used.fast_llm, used.embedder) == ("c", "builtin", "ollama/m", "builtin")
    assert (used.preset, used.max_hops, used.fact_limit) == ("fast", 2, 5)
    assert (used.max_calls, used.max_tokens, used.max_seconds, used.cache) == (7, 900, 1.5, False)


def test_the_command_line_beats_the_environment_and_the_environment_the_file(
    run: Command, play: Callable[..., FakeRAG], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "iterative-rag.toml").write_text("max_hops = 2\nfact_limit = 2\nmax_calls = 2\n", encoding="utf-8")
    monkeypatch.setenv("ITERATIVE_RAG_MAX_HOPS", "3")
    monkeypatch.setenv("ITERATIVE_RAG_FACT_LIMIT", "3")
    fake = play(ANSWERED)
    run("ask", "Who is it?", "--max-hops", "4")
    assert (fake.settings.max_hops, fake.settings.fact_limit, fake.settings.max_calls) == (4, 3, 2)
