"""`iterative-rag conversations`: list, show, rename, export and delete conversations."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.completion import conversation_names
from iterative_rag.cli.history import ListUnlessNamed, confirm
from iterative_rag.cli.options import AsJson
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.conversations import Conversation

_DEFAULT_LIMIT = 20


class ConversationFormat(StrEnum):
    MD = "md"
    JSON = "json"


conversations_app = typer.Typer(
    cls=ListUnlessNamed,
    help="List, show, rename, export and delete conversations.\n\n"
    "A bare `conversations` lists the newest, `conversations WORDS` those with all the words in a question or answer.",
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag conversations\n  iterative-rag conversations show last\n"
    '  iterative-rag conversations rename last "Bridges of Porto"\n'
    "  iterative-rag conversations export last > bridges.md\n  iterative-rag conversations delete last --yes",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="[last|NAME|ID]", help="A conversation, or the beginning of one.", autocompletion=conversation_names
    ),
]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[WORDS]", help="Only those with all of these in question or answer.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="Conversations, the newest first.")]
Format = Annotated[ConversationFormat, typer.Option("--format", help="How to print it.")]


@conversations_app.command("list")
def list_conversations(words: Words = None, limit: Limit = _DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List conversations, the newest first."""
    import dataclasses

    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.cli.console import clean, err, out, write_json

    wanted = " ".join(words or [])
    found = ConversationStore().listing(wanted)
    if as_json:
        write_json({"conversations": [dataclasses.asdict(one) for one in found[:limit]]})
        return
    if not found:
        err().line("No conversation has these words." if wanted else "No conversation yet: iterative-rag chat")
    printer = out()
    for one in found[:limit]:
        printer.line((_local(one.updated), "dim"), "  ", (clean(one.name), "bold"))
        printer.line(
            (f"{counted(one.turns, 'question')}, the last: {clean(one.last)} · {one.id}", "dim"), indent="    "
        )
    if len(found) > limit:
        err().line((f"There are older ones: --limit {limit * 5}", "dim"))


@conversations_app.command("show")
def show_conversation(name: Name) -> None:
    """Print a conversation with its answers and citations."""
    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.cli.console import clean, out
    from iterative_rag.cli.render import show_answer

    conversation = ConversationStore().load(name)
    printer = out()
    for turn in conversation.turns:
        printer.line((f"> {clean(turn.asked)}", "bold cyan"), hang="  ")
        if turn.rewritten:
            printer.line((f"Understood as: {clean(turn.answer.question)}", "dim"), indent="  ")
        show_answer(turn.answer, printer)
        printer.blank()


@conversations_app.command("rename")
def rename_conversation(name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]) -> None:
    """Give a conversation another name."""
    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.cli.console import clean, err

    renamed = ConversationStore().rename(name, new)
    err().line(f"Renamed “{clean(renamed.name)}”.")


@conversations_app.command("export")
def export_conversation(name: Name, form: Format = ConversationFormat.MD) -> None:
    """Print a conversation as Markdown or JSON."""
    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.cli.console import write

    write(exported(ConversationStore().load(name), form.value))


@conversations_app.command("delete")
def delete_conversation(
    name: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a conversation. The traces of its answers stay (`iterative-rag history delete`)."""
    import shlex

    from iterative_rag.app.conversations import ConversationStore
    from iterative_rag.cli.console import clean, err

    store = ConversationStore()
    found = store.load(name)
    if not yes:
        confirm(
            f"Delete “{found.name}”, {counted(len(found.turns), 'question')}?",
            again=f"iterative-rag conversations delete {shlex.quote(name)} --yes",
        )
    store.delete(found.id)
    err().line(f"Deleted “{clean(found.name)}”.")


def exported(conversation: Conversation, form: str) -> str:
    """The conversation as text: "md" or "json"."""
    if form == ConversationFormat.MD:
        from iterative_rag.app.proof.answer_export import conversation_as_markdown
        from iterative_rag.cli.render import shown_source

        return conversation_as_markdown(conversation, shown_source)
    from iterative_rag import __version__
    from iterative_rag.app.conversations.as_json import conversation_to_json
    from iterative_rag.text.control_characters import to_json

    return to_json(conversation_to_json(conversation, version=__version__), indent=2) + "\n"


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet. Raises UsageError."""
    from iterative_rag.errors import UsageError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already.", hint="Name another file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", hint="Name another file.") from error


def _local(at: str) -> str:
    from datetime import datetime

    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "unknown date    "
