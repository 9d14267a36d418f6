"""The file of the conversations: private, shared by processes, and never a reason to lose a citation."""

from __future__ import annotations

import dataclasses
import logging
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fakes.sample_answers import ANSWERED, FACT
from fakes.small_disk import CannotMount, fill, make_room, small_disk
from iterative_rag.app.conversations import LAST, Conversation, ConversationStore, turn_of
from iterative_rag.app.conversations.conversation_file import FILE_NAME, SCHEMA
from iterative_rag.errors import CorpusMismatch, DiskFull, UsageError

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


def test_what_was_not_cited_is_left_to_the_trace(store: ConversationStore) -> None:
    other = dataclasses.replace(FACT, start=900, end=950)
    hop = dataclasses.replace(ANSWERED.hops[0], facts=(FACT, other), shortlist=("a", "b"))
    turn = turn_of("who?", dataclasses.replace(ANSWERED, hops=(hop,)))
    assert turn.facts == (FACT,)
    assert (turn.answer.hops[0].facts, turn.answer.hops[0].shortlist) == ((), ())


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
    with pytest.raises(UsageError, match="already"):
        store.rename("Who founded it? (2)", "who founded IT?")
    with pytest.raises(UsageError, match="no name"):
        store.rename("Who founded it? (2)", "last")
    store.rename("Who founded it? (2)", "Bridges")
    assert store.load("bridges").name == "Bridges"


def test_a_name_that_is_not_there_and_one_that_several_begin_with_are_refused(store: ConversationStore) -> None:
    with pytest.raises(UsageError, match="no conversation yet"):
        store.load(LAST)
    for name in ("Bridge of Orm", "Bridge of Elm"):
        store.keep(NEW, name, TURN)
    assert store.load("bridge of e").name == "Bridge of Elm"
    with pytest.raises(UsageError, match="2 conversations begin with"):
        store.load("bridge")
    with pytest.raises(UsageError, match="no conversation 'tower'"):
        store.load("tower")


def test_what_is_deleted_is_gone_from_the_file_too(store: ConversationStore) -> None:
    store.keep(NEW, "Secret", dataclasses.replace(TURN, asked="who was Xanthippe Quimby?"))
    store.delete("Secret")
    assert store.listing() == []
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"Xanthippe" not in store.path.read_bytes()


def test_a_name_without_control_characters_is_kept(store: ConversationStore) -> None:
    kept = store.keep(NEW, "\x1b[2JBridge\x07\u202e of\nOrm", TURN)
    assert kept.name == "Bridge of Orm"


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
    running = [subprocess.Popen([*command, str(n)], cwd=root, stderr=subprocess.PIPE, text=True) for n in range(3)]
    assert [process.communicate()[1] for process in running] == [""] * 3
    turns = store.load("Shared").turns
    assert [turn.n for turn in turns] == list(range(1, 17))
    assert {turn.asked for turn in turns[1:]} == {f"{process}/{n}" for process in range(3) for n in range(5)}


@pytest.mark.parametrize("damage", ["text", "cut off", "foreign", "zeros inside"])
def test_a_damaged_file_is_set_aside(store: ConversationStore, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    store.keep(NEW, "Lost", TURN)
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if damage == "foreign":
            database.execute("CREATE TABLE other (x)")
    content = store.path.read_bytes()
    if damage == "text":
        store.path.write_bytes(b"This is no database. " * 400)
    elif damage == "cut off":
        store.path.write_bytes(content[:5000])
    elif damage == "zeros inside":
        store.path.write_bytes(content[:4096] + bytes(len(content) - 4096))
    with caplog.at_level(logging.WARNING):
        kept = store.keep(NEW, "Begun again", TURN)
    assert "set aside as" in caplog.text
    assert [one.name for one in store.listing()] == ["Begun again"]
    assert store.load(kept.id).turns[0].asked == TURN.asked
    assert len(list(store.path.parent.glob(f"{FILE_NAME}.damaged-*"))) >= 1


def test_a_damaged_file_has_no_conversations_to_list(
    store: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(b"no database" * 1000)
    assert store.listing() == []
    assert "set aside as" in caplog.text


def test_the_file_of_a_newer_version_is_left_alone(store: ConversationStore) -> None:
    store.keep(NEW, "Newer", TURN)
    with closing(sqlite3.connect(store.path)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(CorpusMismatch, match="newer version"):
        store.listing()
    assert list(store.path.parent.glob("*damaged*")) == []


def test_a_turn_that_cannot_be_read_does_not_take_the_others_with_it(
    store: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    kept = store.keep(NEW, "Part", TURN)
    store.keep(kept, "Part", dataclasses.replace(TURN, asked="and then?"))
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("""UPDATE turns SET body = '{"n": "__import__"}' WHERE n = 1""")
    assert [turn.asked for turn in store.load("Part").turns] == ["and then?"]
    assert "Turn 1 of the conversation 'Part' cannot be read" in caplog.text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    try:
        with small_disk(tmp_path, 4, kind="tmpfs") as place:
            yield place
    except CannotMount as reason:
        pytest.skip(f"no small disk can be mounted here: {reason}")


def test_a_full_disk_is_called_full_and_keeps_what_was_there(disk: Path) -> None:
    store = ConversationStore(disk / "conversations")
    kept = store.keep(NEW, "Full", TURN)
    fill(disk)
    long = dataclasses.replace(TURN, answer=dataclasses.replace(ANSWERED, text="long " * 100_000))
    with pytest.raises(DiskFull, match=r"full|no space left"):
        store.keep(kept, "Full", long)
    make_room(disk)
    assert [turn.n for turn in store.load("Full").turns] == [1]
    assert len(store.keep(kept, "Full", long).turns) == 2


def test_a_conversation_is_found_by_its_run(store: ConversationStore) -> None:
    for n in range(3):
        answer = dataclasses.replace(ANSWERED, run_id=f"run-{n}")
        kept = store.keep(NEW, f"The bridge {n}", dataclasses.replace(TURN, answer=answer))
        store.keep(kept, "", dataclasses.replace(TURN, answer=dataclasses.replace(answer, run_id=f"later-{n}")))
    found = store.of_run("later-1")
    assert found is not None
    assert (found.name, len(found.turns)) == ("The bridge 1", 2)
    assert store.of_run("nowhere") is None
