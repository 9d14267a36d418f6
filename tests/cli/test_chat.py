"""`chat` and `conversations`, on a pseudo terminal and through a pipe, as processes of their own."""

from __future__ import annotations

import dataclasses
import json
import signal
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import two_article_corpus
from fakes.command_line import Command
from fakes.model_server import FakeServer, Fault
from fakes.sample_answers import ANSWERED
from fakes.terminal_session import TerminalSession
from iterative_rag.app.conversations import Conversation, ConversationStore, turn_of
from iterative_rag.cli import interrupts
from iterative_rag.cli.chat import Chat
from iterative_rag.system.threads import first_done

HOSTILE = "\x1b[2JWho\x07 <script>alert(1)</script>\u202e | [x](javascript:y)?"
BUILTIN = ("--corpus", "towns", "--llm", "builtin")


@pytest.fixture
def towns(tmp_path: Path) -> None:
    two_article_corpus.indexed_home(tmp_path, "towns")


@pytest.fixture
def kept() -> Conversation:
    turn = turn_of("and who founded it?", ANSWERED)
    return ConversationStore().keep(Conversation(), "The bridge", turn)


def test_a_chat_on_a_terminal(towns: None) -> None:
    with TerminalSession(["chat", *BUILTIN], NO_COLOR="1") as chat:
        chat.expect("A new conversation · corpus towns · builtin · /help")
        chat.expect("> ")
        chat.type("Who is the mayor of Aldermere?")
        assert "hop 1" in chat.expect("LLM calls")
        chat.expect("> ")
        chat.type("and of which country is it a part?")
        chat.expect("Understood as: Of which country is Aldermere a part?")
        chat.expect("> ")
        chat.type("/nonsense")
        chat.expect("There is no command '/nonsense'")
        chat.type("hm")
        chat.expect("cannot be understood")
        chat.expect("> ")
        chat.press("half a line")
        chat.expect("half a line")
        chat.interrupt_until("\r\n> ")
        chat.type("/edit Who is the mayor of Aldermere?")
        chat.expect("Edda Holm")
        chat.type("/new Second")
        chat.expect("A new conversation.")
        chat.expect("> ")
        chat.press("\x04")
        assert chat.end() == 0
    (one,) = ConversationStore().listing()
    assert (one.turns, one.last) == (3, "hm")


def test_an_interrupt_stops_the_run_and_not_the_chat(towns: None, ollama: FakeServer) -> None:
    ollama.faults.append(Fault("hang"))
    with TerminalSession(["chat", "--corpus", "towns", "--llm", "ollama/tiny:8b"], NO_COLOR="1") as chat:
        for _ in range(2):
            chat.expect("> ")
            chat.type(two_article_corpus.QUESTION)
            chat.expect("analysing the question")
            chat.press("\x03")
            chat.expect("Stopped: what was read so far is in the cache.")
            ollama.faults.append(Fault("hang"))
        ollama.faults.clear()
        chat.type(two_article_corpus.QUESTION)
        chat.expect("Edda Holm [2]")
        chat.type("/quit")
        assert chat.end() == 0
    assert [one.turns for one in ConversationStore().listing()] == [1]


def code_of_a_chat_that(asks: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a chat of one line, which `asks` works on; a lost interrupt is raised again after 0.3 s."""
    monkeypatch.setattr(interrupts, "_LOST_SECONDS", 0.3)
    before = signal.getsignal(signal.SIGINT)
    rag: Any = SimpleNamespace(conversation=lambda name: None)
    chat = Chat(rag, "", terminal=True)
    monkeypatch.setattr(chat, "_line", asks)
    monkeypatch.setattr(chat, "_greet", lambda: None)
    try:
        return chat.run(iter(["Who?"]))
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_breaks_no_import_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken one may leave its module locked, and the next question waited for that for ever."""
    (tmp_path / "imported_late.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\nDONE = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = []

    def asks(line: str) -> None:
        done.append(import_module("imported_late").DONE)
        Event().wait(30)

    assert code_of_a_chat_that(asks, monkeypatch) == 130
    assert done == [True]


@pytest.mark.parametrize("wait", [lambda: first_done([Future()], seconds=30), lambda: Event().wait(30)])
def test_an_interrupt_that_is_lost_on_its_way_stops_the_run_all_the_same(
    wait: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python drops a KeyboardInterrupt that is raised in a destructor: the wait for a reply went on for ever."""

    def asks(line: str) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        wait()

    assert code_of_a_chat_that(asks, monkeypatch) == 130


def test_lines_of_a_pipe_are_questions_and_commands(shell: Command, towns: None) -> None:
    lines = "Who is the mayor of Aldermere?\n\n/help\nof which country is it a part?\n"
    done = shell("chat", *BUILTIN, "--conversation", "Towns", stdin=lines)
    assert done.code == 0, done.err
    assert done.out.index("Edda Holm") < done.out.index("Vessel Isles")
    assert ">" not in done.out.splitlines()[0]
    again = shell("chat", *BUILTIN, "--conversation", "Towns", stdin="/edit Who?")
    assert (again.code, "nothing to edit" in again.err) == (2, True)
    assert len(ConversationStore().load("Towns").turns) == 2


def test_conversations_are_listed_shown_exported_and_deleted(run: Command, kept: Conversation) -> None:
    assert "The bridge" in run("conversations").out
    assert "The bridge" in run("conversations", "holm", "AND").out
    assert run("conversations", "nobody").out == ""
    shown = run("conversations", "show", "the b").out
    assert "> and who founded it?" in shown
    assert f"Understood as: {ANSWERED.question}" in shown
    assert ANSWERED.citations[0].quote in shown
    (listed,) = json.loads(run("conversations", "--json").out)["conversations"]
    assert (listed["name"], listed["id"], listed["turns"]) == ("The bridge", kept.id, 1)
    assert run("conversations", "delete", "the bridge").code == 2  # there is no terminal to ask on
    assert run("conversations", "delete", "the bridge", "--yes").code == 0
    assert run("conversations", "show", "the bridge").code == 2


def test_nothing_hostile_reaches_a_terminal_or_a_page(run: Command) -> None:
    answer = dataclasses.replace(ANSWERED, question=HOSTILE, text=f"{HOSTILE} [1]", short_answer=HOSTILE)
    ConversationStore().keep(Conversation(), HOSTILE, turn_of(HOSTILE, answer))
    for arguments in (("list",), ("show", "last"), ("show", "last", "--format", "md")):
        done = run("conversations", *arguments)
        assert done.code == 0
        assert not set("\x1b\x07\u202e") & set(done.out + done.err), arguments
    markdown = run("conversations", "show", "last", "--format", "md").out
    assert "<script>" not in markdown
    assert "[x](" not in markdown
