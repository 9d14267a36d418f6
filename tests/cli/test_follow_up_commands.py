"""`ask -c`: a follow-up goes on with the last question or conversation, also that of another process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import TEXTS
from iterative_rag.app.conversations import ConversationStore
from tests.cli.conftest import written

ASKED = ("--corpus", "towns", "--llm", "builtin")
HOLM = (
    "# Edda Holm\n\n| Edda Holm | |\n|---|---|\n| Born | 3 March 1951, Tarn |\n| Father | Jorn Holm |\n\n"
    "Edda Holm was born on 3 March 1951 in Tarn. Her father was Jorn Holm.\n"
)


@pytest.fixture
def towns(run: Command, tmp_path: Path) -> None:
    texts = {"Aldermere.md": TEXTS["Aldermere.md"], "Edda_Holm.md": HOLM}
    assert run("index", str(written(tmp_path / "towns", texts)), "--corpus", "towns").code == 0


def test_a_follow_up_goes_on_with_the_last_question(shell: Command, run: Command, towns: None) -> None:
    assert shell("ask", "Who is the mayor of Aldermere?", *ASKED, "-q").out == "Edda Holm\n"
    assert not ConversationStore().path.exists()  # a single question is no conversation

    done = shell("ask", "-c", "and her father?", *ASKED)
    assert (done.code, "Understood as: Who was Edda Holm's father?" in done.err) == (0, True)
    assert "Jorn Holm" in done.out

    done = run("ask", "-c", "when was she born?", "--json", *ASKED)
    assert json.loads(done.out)["question"] == "When was Edda Holm born?"
    assert json.loads(done.out)["short_answer"] == "3 March 1951"

    (kept,) = ConversationStore().listing()
    turns = ConversationStore().load("last").turns
    assert kept.name == "Who is the mayor of Aldermere?"
    assert [turn.asked for turn in turns] == ["Who is the mayor of Aldermere?", "and her father?", "when was she born?"]
    assert all(turn.answer.citations and turn.facts for turn in turns)


def test_a_follow_up_that_is_not_understood_can_be_told_what_it_means(run: Command, towns: None) -> None:
    run("ask", "Who is the mayor of Aldermere?", *ASKED, "-q")
    done = run("ask", "-c", "the other one, please", *ASKED)
    assert done.code == 2
    assert "cannot be understood" in done.err
    assert "--as" in done.err
    said = run("ask", "-c", "and him?", "--as", "Who was the father of Edda Holm?", "-q", *ASKED)
    assert said.out == "Jorn Holm\n"
    assert ConversationStore().load("last").turns[-1].asked == "and him?"


def test_a_named_conversation_is_begun_and_gone_on_with(run: Command, towns: None) -> None:
    first = run("ask", "--conversation", "Mayors", "Who is the mayor of Aldermere?", "-q", *ASKED)
    again = run("ask", "--conversation", "mayors", "where was she born?", "-q", *ASKED)
    assert (first.out, again.out) == ("Edda Holm\n", "Tarn\n")
    assert [one.turns for one in ConversationStore().listing()] == [2]


def test_a_conversation_keeps_what_it_was_asked_with(run: Command, towns: None) -> None:
    asked = (*ASKED, "--strategy", "naive", "--source", "*towns*")
    assert run("ask", "Who is the mayor of Aldermere?", "-q", *asked).out == "Edda Holm\n"

    done = run("ask", "-c", "where was she born?", "--json")
    used = json.loads(done.out)["settings"]
    assert (used["corpus"], used["llm"], used["strategy"], used["within_source"]) == (
        "towns",
        "builtin",
        "naive",
        "*towns*",
    )
    (told,) = [line for line in done.err.splitlines() if "corpus = " in line]
    kept = "corpus = towns, llm = builtin, strategy = naive, within_source = *towns*"
    assert told == f"As the conversation was asked: {kept}"


def test_without_a_question_there_is_nothing_to_go_on_with(run: Command, towns: None) -> None:
    done = run("ask", "-c", "and her father?", *ASKED)
    assert (done.code, "nothing to go on with" in done.err) == (2, True)
    assert run("ask", "Who is it?", "--as", "Who is the mayor?", *ASKED).code == 2
