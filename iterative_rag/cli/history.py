"""`iterative-rag history` and `trace`: list, search, show, export, delete and replay the runs of the past; and
`conversations`: list, show, export and delete them."""

from __future__ import annotations

import dataclasses
import shlex
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from iterative_rag.cli.console import clean, confirm, err, out, write, write_json
from iterative_rag.cli.options import AsJson, Yes
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.storage.past_runs import PastRun
    from iterative_rag.types import Answer

DEFAULT_LIMIT = 20
_STYLES = {"answered": "green", "damaged": "red", "failed": "red"}
_STYLES |= dict.fromkeys(("extract", "abstained", "incomplete"), "yellow")


class ExportFormat(StrEnum):
    TEXT = "text"
    MD = "md"
    JSON = "json"
    HTML = "html"


class ListUnlessNamed(TyperGroup):
    """Takes `history`, `history WORDS` and `history --json` for `history list ...`; other groups alike."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


history_app = typer.Typer(
    cls=ListUnlessNamed,
    help="List earlier questions with their answers; search, show, export and delete them.\n\n"
    "A bare `history` lists the newest, `history WORDS` those with all the words in question or answer.",
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag history\n  iterative-rag history first lady --limit 5\n"
    "  iterative-rag history show last --format md > answer.md\n"
    "  iterative-rag history delete 20250131-1425\n  iterative-rag history delete --all --yes",
)

Words = Annotated[
    list[str] | None, typer.Argument(metavar="[WORDS]", help="Only those with all of these in question or answer.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many, the newest first.")]
RunName = typer.Argument(
    metavar="[last|ID|WORDS]", help="A run: the beginning of its id, or words of its question or answer."
)


@history_app.command("list")
def list_runs(words: Words = None, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List earlier questions, the newest first: date, status, short answer, corpus and model."""
    from iterative_rag.storage.past_runs import past_runs

    asked = " ".join(words or [])
    runs = list(islice(past_runs(asked), limit + 1))
    if as_json:
        write_json({"runs": [_as_json(run) for run in runs[:limit]]})
        return
    if not runs:
        err().line("No run has these words in its question or answer." if asked.strip() else "No question yet.")
    printer = out()
    for run in runs[:limit]:
        at = run.at.strftime("%Y-%m-%d %H:%M") if run.at else "unknown date    "
        question = run.question or "its first line cannot be read"
        printer.line((at, "dim"), "  ", (run.status, _STYLES.get(run.status, "")), "  ", (question, "bold"))
        if said := _said(run):
            printer.line(said, indent="    ")
        printer.line((" · ".join(filter(None, (run.corpus, run.backend, run.run_id))), "dim"), indent="    ")
    say_older(len(runs), limit)


def say_older(count: int, limit: int) -> None:
    if count > limit:
        err().line((f"There are older ones: --limit {limit * 5}", "dim"))


@history_app.command("show")
def show_run(
    name: Annotated[list[str], RunName],
    form: Annotated[ExportFormat, typer.Option("--format", help="How to print it.")] = ExportFormat.TEXT,
) -> None:
    """Print an earlier answer with its citations, or export it."""
    from iterative_rag.storage.past_runs import answer_of

    run = _found(" ".join(name))
    answer = answer_of(run)
    if form is ExportFormat.TEXT:  # the others begin with it
        meant = f" (understood as: {answer.question})" if answer.question != run.question else ""
        out().line((f"> {clean(run.question + meant)}", "bold cyan"), hang="  ")
    print_answer(answer, form)


@history_app.command("delete")
def delete_runs(
    name: Annotated[str | None, typer.Argument(metavar="[last|ID]", help="A run, by its id.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    yes: Yes = False,
) -> None:
    """Delete the trace of a run, or of all runs. What the runs have cached stays (`iterative-rag cache clear`)."""
    from iterative_rag.storage.past_runs import delete, past_runs, run_of_id

    if everything == bool(name):
        raise UsageError("Name one run, or --all.", hint="iterative-rag history delete ID")
    chosen = list(past_runs()) if everything or not name else [run_of_id(name)]
    what = counted(len(chosen), "run") if everything else f"the run of {chosen[0].question or chosen[0].run_id!r}"
    if chosen and not yes:
        confirm(f"Delete {what}?", again=f"iterative-rag history delete {name or '--all'} --yes")
    delete(chosen)
    err().line(f"Deleted {what}.")


def trace(
    run: Annotated[list[str] | None, RunName] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as they were written, one a line.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Show the prompt and reply of every LLM call.")] = False,
) -> None:
    """Replay what happened in a run, hop by hop."""
    from iterative_rag.cli.hops import replay
    from iterative_rag.storage.past_runs import LAST, events_of

    found = _found(" ".join(run or [LAST]))
    if found.status == "damaged":
        err().line(("The trace is damaged: it does not begin or end as one does.", "yellow"))
    events = events_of(found)
    if not as_json:
        replay(events, out(), calls=calls)
        return
    for event in events:
        write_json(event, indent=None)


def _found(words: str) -> PastRun:
    """The newest run with these words; on stderr how many more have them."""
    from iterative_rag.storage.past_runs import find_runs

    if len(runs := find_runs(words)) > 1:
        more = f"The newest of {len(runs)} runs with these words; all: iterative-rag history {words}"
        err().line((clean(more), "dim"))
    return runs[0]


def print_answer(answer: Answer, form: ExportFormat) -> None:
    """An answer on stdout."""
    from iterative_rag.cli.answer_view import show_answer, shown_source

    match form:
        case ExportFormat.TEXT:
            show_answer(answer, out())
        case ExportFormat.JSON:
            from iterative_rag import __version__
            from iterative_rag.storage.output import answer_to_json

            write_json(answer_to_json(answer, version=__version__))
        case ExportFormat.MD:
            from iterative_rag.app.proof.answer_export import as_markdown

            write(as_markdown(answer, shown_source))
        case ExportFormat.HTML:
            from iterative_rag import __version__
            from iterative_rag.app.proof.proof_file import proof_html

            write(proof_html(answer, version=__version__, source=shown_source))


def _said(run: PastRun) -> str:
    if run.status in ("answered", "extract"):
        confidence = run.told("confidence_word")
        return f"{run.short_answer} ({confidence})" if confidence else run.short_answer
    code = run.told("reason_code").replace("_", " ").capitalize()
    return ": ".join(filter(None, (code, run.reason or run.short_answer)))


def _as_json(run: PastRun) -> dict[str, Any]:
    texts = ("run_id", "question", "status", "short_answer", "reason", "corpus", "backend")
    return {
        **{name: getattr(run, name) for name in texts},
        "at": run.at.isoformat() if run.at else None,
        "reason_code": run.told("reason_code") or None,
        "confidence_word": run.told("confidence_word") or None,
        "usage": dict(run.usage),
        "trace": str(run.path),
    }


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

Name = Annotated[str, typer.Argument(metavar="[last|NAME|ID]", help="A conversation, or the beginning of one.")]


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
