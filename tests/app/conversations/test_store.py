"""The file of the conversations: private, shared by processes, and never a reason to lose a citation."""

from __future__ import annotations

import dataclasses
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fakes.sample_answers import ANSWERED, FACT
from iterative_rag.app.conversations import LAST, Conversation, ConversationStore, turn_of
from iterative_rag.app.conversations.store import SCHEMA
from iterative_rag.errors import CorpusError, CorpusMismatch

TURN = turn_of("who founded it?", ANSWERED)
NEW = Conversation()


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "data" / "conversations")


def test_a_conversation_is_read_as_it_was_kept(store: ConversationStore) -> None:
    kept = store.keep(NEW, "The bridge", TURN)
    grown = store.keep(kept, "The bridge", dataclasses.replace(TURN, asked="and when?"))
    assert store.load("The bridge") == store.load(LAST) == store.load(kept.id) == grown
    assert [turn.asked for turn in grown.turns] == ["who founded it?", "and when?"]
    assert grown.turns[0].answer.citations == ANSWERED.citations
    assert grown.turns[0].facts == (FACT,)


def test_only_the_owner_may_read_it(store: ConversationStore) -> None:
    store.keep(NEW, "Private", TURN)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (store.path.parent, *store.path.parent.iterdir())}
    assert modes.pop(store.path.parent) == 0o700
    assert set(modes.values()) == {0o600}


def test_conversations_are_found_by_words_of_question_and_answer(store: ConversationStore) -> None:
    store.keep(NEW, "One", TURN)
    store.keep(NEW, "Two", dataclasses.replace(TURN, asked="who was the mayor of Orm?"))
    assert [one.name for one in store.listing()] == ["Two", "One"]
    assert [one.name for one in store.listing("ORM mayor")] == ["Two"]
    assert [one.turns for one in store.listing("edda holm")] == [1, 1]
    assert store.listing("nobody") == []


def test_a_name_is_given_once(store: ConversationStore) -> None:
    names = [store.keep(NEW, "Who founded it?", TURN).name for _ in range(3)]
    assert names == ["Who founded it?", "Who founded it? (2)", "Who founded it? (3)"]


def test_what_is_deleted_is_gone_from_the_file_too(store: ConversationStore) -> None:
    store.keep(NEW, "Secret", dataclasses.replace(TURN, asked="who was Xanthippe Quimby?"))
    store.delete("Secret")
    assert store.listing() == []
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"Xanthippe" not in store.path.read_bytes()


ADDING = """
import dataclasses, sys
from pathlib import Path
from fakes.sample_answers import ANSWERED
from iterative_rag.app.conversations import ConversationStore, turn_of
store = ConversationStore(Path(sys.argv[1]))
for n in range(5):
    conversation = store.find("Shared")
    store.keep(conversation, "Shared", turn_of(f"{sys.argv[2]}/{n}", ANSWERED))
"""


def test_several_processes_go_on_with_one_conversation(store: ConversationStore) -> None:
    store.keep(NEW, "Shared", TURN)
    command = [sys.executable, "-c", ADDING, str(store.path.parent)]
    root = Path(__file__).parents[3]
    running = [subprocess.Popen([*command, str(n)], cwd=root, stderr=subprocess.PIPE, text=True) for n in range(2)]
    assert [process.communicate()[1] for process in running] == [""] * 2
    turns = store.load("Shared").turns
    assert [turn.n for turn in turns] == list(range(1, 12))
    assert {turn.asked for turn in turns[1:]} == {f"{process}/{n}" for process in range(2) for n in range(5)}


@pytest.mark.parametrize("damage", ["text", "cut off"])
def test_a_damaged_file_is_told_of_and_left_alone(store: ConversationStore, damage: str) -> None:
    store.keep(NEW, "Lost", TURN)
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = store.path.read_bytes()
    store.path.write_bytes(b"This is no database. " * 400 if damage == "text" else content[:5000])
    before = store.path.read_bytes()
    with pytest.raises(CorpusError, match="cannot be read or written"):
        store.keep(NEW, "Begun again", TURN)
    assert store.path.read_bytes() == before


def test_the_file_of_a_newer_version_is_left_alone(store: ConversationStore) -> None:
    store.keep(NEW, "Newer", TURN)
    with closing(sqlite3.connect(store.path)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(CorpusMismatch, match="newer version"):
        store.listing()
    assert list(store.path.parent.glob("*damaged*")) == []
