"""What is shown below an ending without an answer: the passages that come nearest, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from iterative_rag.cli.console import Printer, clean
from iterative_rag.cli.settings_options import SEARCHING, given_options
from iterative_rag.errors.installation import own_command
from iterative_rag.storage.output import NEAREST, NO_ARTICLE, fetch_commands
from iterative_rag.types import Answer, Cap, Citation, ReasonCode

# A model of eight billion parameters, which many machines can run; README.md names the same one.
_LLM = "llama3.1:8b"


def show_nearest(answer: Answer, printer: Printer) -> tuple[Citation, ...]:
    """Prints the heading of the nearest passages, which it returns."""
    if answer.nearest:
        printer.blank()
        printer.line((NEAREST, "yellow"))
    return answer.nearest


def show_tries(answer: Answer, printer: Printer, also: Sequence[str] = ()) -> None:
    """Prints what to try; `also` are options of the command line that are no settings."""
    tries = list(to_try(answer, also))
    if tries:
        printer.blank()
        printer.line(("To try:", "yellow"))
    for what, command in tries:
        printer.line(what, indent="  ")
        if command:
            printer.command(clean(command), indent="    ")


def to_try(answer: Answer, also: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """What may help, each with the command to type, with all options that were given; "" where it is not a matter of a
    command."""
    ask = partial(_ask_again, answer, also)
    for title, command in fetch_commands(answer):
        yield NO_ARTICLE.format(clean(title)), command.replace("iterative-rag", own_command(), 1)
    if answer.reason_code is ReasonCode.LIMIT and answer.cap:
        yield "a higher limit", ask(**_raised(answer, answer.cap))
    if answer.reason_code is ReasonCode.NOT_IN_CORPUS:
        yield "what the corpus has", _typed("search", answer.question, given_options(answer.settings, only=SEARCHING))
    if answer.reason_code is not ReasonCode.NOT_WORKED_OUT:
        return
    yield "other words, or one fact at a time", ""
    if answer.settings.get("backend", "builtin") != "builtin":
        if answer.settings.get("strategy") == "iterative":
            yield "a strategy that checks more", ask(strategy="full")
        return
    if not answer.settings.get("guess"):
        yield "a guess", ask(guess=True)
    yield "an LLM", f"ollama pull {_LLM} && {ask(llm=f'ollama/{_LLM}')}"


def _ask_again(answer: Answer, also: Sequence[str], **changed: Any) -> str:
    return _typed("ask", answer.question, [*given_options(answer.settings, **changed), *also])


def _typed(command: str, question: str, options: Sequence[str]) -> str:
    return f"{own_command()} {command} {shlex.join([question, *options])}"


def _raised(answer: Answer, cap: Cap) -> dict[str, Any]:
    """The setting of a limit, with twice its value."""
    name = f"max_{cap.value}"
    limit = answer.settings.get(name)
    return {name: 2 * limit if isinstance(limit, int | float) else "N"}
