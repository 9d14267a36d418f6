"""`iterative-rag conversations`: list, show, export and delete conversations."""

from __future__ import annotations

import dataclasses
import shlex
from enum import StrEnum
from typing import Annotated

import typer

from iterative_rag.cli.console import clean, confirm, err, out, write, write_json
from iterative_rag.cli.history import DEFAULT_LIMIT, Limit, ListUnlessNamed, Words, say_older
from iterative_rag.cli.options import AsJson, Yes
from iterative_rag.text.plurals import counted


class ConversationFormat(StrEnum):
    TEXT = "text"
    MD = "md"


conversations_app = typer.Typer(
    cls=ListUnlessNamed,
    help="List, show, export and delete conversations.\n\n"
    "A bare `conversations` lists the newest, `conversations WORDS` those with all the words in a question or answer.",
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag conversations\n  iterative-rag conversations show last\n"
    "  iterative-rag conversations show last --format md > bridges.md\n"
    "  iterative-rag conversations delete last --yes",
)

Name = Annotated[
    str,
    typer.Argument(metavar="[last|NAME|ID]", help="A conversation, or the beginning of one."),
]


@conversations_app.command("list")
def list_conversations(words: Words = None, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List conversations, the newest first."""
    from iterative_rag.app.conversations import ConversationStore

    wanted = " ".join(words or [])
    entries = ConversationStore().listing(wanted)
    if as_json:
        write_json({"conversations": [dataclasses.asdict(entry) for entry in entries[:limit]]})
        return
    if not entries:
        err().line("No conversation has these words." if wanted else "No conversation yet: iterative-rag chat")
    for entry in entries[:limit]:
        out().line((_local(entry.updated), "dim"), "  ", (clean(entry.name), "bold"))
        told = f"{counted(entry.turns, 'question')}, the last: {clean(entry.last)} · {entry.id}"
        out().line((told, "dim"), indent="    ")
    say_older(len(entries), limit)


@conversations_app.command("show")
def show_conversation(
    name: Name,
    form: Annotated[ConversationFormat, typer.Option("--format", help="How to print it.")] = ConversationFormat.TEXT,
) -> None:
    """Print a conversation with its answers and citations, or export it."""
    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.app.proof.answer_export import conversation_as_markdown
    from iterative_rag.cli.answer_view import show_answer, shown_source

    conversation = ConversationStore().load(name)
    if form is ConversationFormat.MD:
        write(conversation_as_markdown(conversation, shown_source))
        return
    printer = out()
    for turn in conversation.turns:
        printer.line((f"> {clean(turn.asked)}", "bold cyan"), hang="  ")
        if turn.rewritten:
            printer.line((f"Understood as: {clean(turn.answer.question)}", "dim"), indent="  ")
        show_answer(turn.answer, printer)
        printer.blank()


@conversations_app.command("delete")
def delete_conversation(name: Name, yes: Yes = False) -> None:
    """Delete a conversation. The traces of its answers stay (`iterative-rag history delete`)."""
    from iterative_rag.app.conversations import ConversationStore

    store = ConversationStore()
    conversation = store.load(name)
    if not yes:
        again = f"iterative-rag conversations delete {shlex.quote(name)} --yes"
        confirm(f"Delete “{conversation.name}”, {counted(len(conversation.turns), 'question')}?", again=again)
    store.delete(conversation.id)
    err().line(f"Deleted “{clean(conversation.name)}”.")


def _local(at: str) -> str:
    from datetime import datetime

    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "unknown date    "
