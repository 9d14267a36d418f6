"""`iterative-rag ask`: one question, hop by hop, to an answer with citations."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, write
from iterative_rag.cli.history import ExportFormat, print_answer
from iterative_rag.cli.live import RunStatus
from iterative_rag.cli.options import AsJson, announce_starter, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Answer, FinalStep, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.cli.hops import HopPrinter
    from iterative_rag.settings import Settings
    from iterative_rag.types import Step, Within

# Far above the longest accepted question; bounds what is read from a pipe.
_STDIN_CHARACTERS = 1_000_000
# Seconds after which the built-in models say what they are doing: most questions take less.
_LONG = 2.0
# Passages that are shown while nothing is found yet, and characters of each.
_NEAREST, _QUOTED = 3, 120


ConversationName = Annotated[
    str | None, typer.Option("--conversation", metavar="NAME", help="Go on with this conversation, or begin it.")
]


@takes_settings()
def ask(
    question: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")
    ] = None,
    *,
    settings: Settings,
    form: Annotated[
        ExportFormat | None, typer.Option("--format", help="How the answer is printed; json is the same as --json.")
    ] = None,
    as_json: AsJson = False,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the trace (JSON Lines) to this file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the short answer, without hops or notices.")
    ] = False,
    go_on: Annotated[
        bool, typer.Option("--continue", "-c", help="A follow-up: go on with the last conversation or question.")
    ] = False,
    conversation: ConversationName = None,
    meaning: Annotated[
        str | None, typer.Option("--as", metavar="QUESTION", help="What a follow-up means, where it is not understood.")
    ] = None,
) -> None:
    """Answer a question, hop by hop, with quoted citations."""
    from iterative_rag.app.factory import checked_question

    if as_json and form not in (None, ExportFormat.JSON):
        raise UsageError(f"--json and --format {form} contradict each other.", hint="Leave out one of them.")
    form = ExportFormat.JSON if as_json else form
    follows = conversation or ("last" if go_on or conversation is not None else "")
    text = _read(question or [])
    if meaning and not follows:
        raise UsageError("--as is for a follow-up.", hint='iterative-rag ask -c "and her mother?" --as "Who ...?"')
    text, live = checked_question(text), form is not ExportFormat.JSON
    with closing(opened(settings, follows, question=text, quiet=quiet)) as rag:
        steps = partial(rag.conversation(follows).steps, meaning=meaning or "") if follows else None
        answer = run_question(rag, text, trace, quiet=quiet, live=live, steps=steps)
    if form or not quiet:
        print_answer(answer, form or ExportFormat.TEXT)
    else:
        _print_short(answer)
    _report_failure(answer, quiet=quiet)
    raise typer.Exit(exit_code(answer))


def opened(settings: Settings, conversation: str, *, question: str = "", quiet: bool = False) -> IterativeRAG:
    """What answers a first `question`, or goes on with a conversation ("": none) as that was asked before."""
    from iterative_rag.app.factory import IterativeRAG

    parts: tuple[Within, ...] = ()
    told = ""
    if conversation:
        from iterative_rag.app.conversations import ConversationStore
        from iterative_rag.app.conversations.going_on import conversation_named, gone_on

        settings, parts, told = gone_on(settings, conversation_named(conversation, ConversationStore()))
    if not quiet:
        announce_starter(settings)
    rag = IterativeRAG.from_settings(settings, question="" if conversation else question)
    rag.notice = "\n".join(filter(None, (told, rag.notice)))
    for part in parts:
        rag = rag.over(rag.corpus, within=part)
    return rag


def exit_code(answer: Answer) -> int:
    """0 answered or an extract, 3 abstained, 6 incomplete (a limit, or documents that could not be read), 5 a fault of
    the model."""
    match answer.status:
        case Status.ANSWERED | Status.EXTRACT:
            return 0
        case Status.ABSTAINED:
            return 3
        case Status.INCOMPLETE:
            return answer.fault.exit_code if answer.fault else 6


def _read(words: list[str]) -> str:
    """The words of the command line, or all of stdin for `-`. Raises UsageError."""
    if words == ["-"]:
        if sys.stdin is None:
            raise UsageError("There is no stdin to read the question from.", hint="Give the question as an argument.")
        try:
            text = sys.stdin.read(_STDIN_CHARACTERS)
        except UnicodeDecodeError as error:
            raise UsageError("The question on stdin is not UTF-8 text.", hint="Convert it with iconv.") from error
    else:
        text = " ".join(words)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("The question is not UTF-8 text.", hint="Check the terminal's encoding.") from error
    return without_controls(text)


def run_question(
    rag: IterativeRAG,
    question: str,
    trace: Path | None,
    *,
    quiet: bool,
    live: bool,
    steps: Callable[..., Iterator[Step]] | None = None,
) -> Answer:
    """Consume all steps, so that the trace is closed as complete. `live`: with a line that says what is being done.
    `steps` runs the question where that is not `rag` itself."""
    answer: Answer | None = None
    with nullcontext() if quiet else _hops(rag, live=live) as hops:
        progress, written = (hops.progress, hops.written) if hops else (None, None)
        if hops and written and rag.backend.name != "builtin":
            _show_nearest(rag, question, hops)
        for step in (steps or rag.steps)(question, trace=trace, progress=progress, written=written):
            if hops:
                hops.show(step)
            if isinstance(step, FinalStep):
                answer = step.answer
    assert answer is not None, "the engine ended without a final step"
    return answer


def _hops(rag: IterativeRAG, *, live: bool) -> HopPrinter:
    """Prints the hops; where somebody watches, says below them what is being done, with the built-in models only in a
    run that takes its time."""
    from iterative_rag.cli.hops import HopPrinter

    printer = err()
    if rag.notice:
        printer.line((rag.notice, "dim"))
        printer.blank()
    watched = live and printer.terminal and sys.stdout.isatty()
    if not watched:
        return HopPrinter(printer)
    after = 0.0 if rag.backend.traits.calls_cost or rag.settings.web else _LONG
    return HopPrinter(printer, RunStatus(printer.console, after=after))


def _show_nearest(rag: IterativeRAG, question: str, hops: HopPrinter) -> None:
    """Show what a search of the question finds while the model is at work: the first of its calls may take a minute."""
    from iterative_rag.serve.step_notes import shortened
    from iterative_rag.system.threads import in_background

    def search() -> None:
        passages = [(hit.title, held.text[hit.start : hit.end]) for hit, held in rag.search(question, _NEAREST)]
        hops.nearest([f"{title}: “{shortened(text, _QUOTED)}”" for title, text in passages])

    in_background(search)


def _print_short(answer: Answer) -> None:
    if answer.status is Status.ABSTAINED:  # never to be taken for an answer
        write(clean(f"{answer.label}: {answer.reason}"))
    else:
        value = "" if answer.form.is_text else answer.short_answer
        write(clean(value or answer.text or answer.reason))


def _report_failure(answer: Answer, *, quiet: bool) -> None:
    """On stderr: the fault that ended the run; with `quiet` what the short answer must not be read without."""
    from iterative_rag.cli import say

    if answer.fault and not quiet:
        say(answer.fault.message, answer.fault.hint)
    if not quiet:
        return
    if answer.status is Status.INCOMPLETE and (answer.short_answer or answer.text):
        err().line(("Incomplete: ", "bold yellow"), clean(answer.reason))
    if answer.corpus_notice:
        err().line(("Note: ", "bold yellow"), clean(answer.corpus_notice))
