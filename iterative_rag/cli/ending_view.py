"""What is shown below an ending without an answer: the passages that come nearest, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from iterative_rag.cli.console import Printer, clean
from iterative_rag.output import NEAREST
from iterative_rag.system.installation import own_command
from iterative_rag.types import Answer, Cap, Citation, ReasonCode

# A model of eight billion parameters, which many machines can run; README.md names the same one.
_LLM = "llama3.1:8b"


def show_nearest(answer: Answer, printer: Printer) -> tuple[Citation, ...]:
    """Prints the heading of the nearest passages, which it returns."""
    if answer.nearest:
        printer.blank()
        printer.line((NEAREST, "yellow"))
    return answer.nearest


def show_tries(answer: Answer, printer: Printer) -> None:
    """Prints what to try."""
    tries = list(to_try(answer))
    if tries:
        printer.blank()
        printer.line(("To try:", "yellow"))
    for what, command in tries:
        printer.line(what, indent="  ")
        if command:
            printer.command(clean(command), indent="    ")


def to_try(answer: Answer) -> Iterator[tuple[str, str]]:
    """What may help, each with the command to type; "" where it is not a matter of a command."""
    if answer.reason_code is ReasonCode.LIMIT and answer.cap:
        yield "a higher limit", _ask_again(answer, *_raised(answer, answer.cap))
    if answer.reason_code is ReasonCode.NOT_IN_CORPUS:
        yield "what the corpus has", f"{own_command()} search {shlex.quote(answer.question)}{_corpus(answer)}"
    if answer.reason_code is not ReasonCode.NOT_WORKED_OUT:
        return
    yield "other words, or one fact at a time", ""
    if answer.settings.get("backend", "builtin") != "builtin":
        if answer.settings.get("strategy") == "iterative":
            yield "a strategy that checks more", _ask_again(answer, "--strategy", "full")
        return
    if not answer.settings.get("guess"):
        yield "a guess", _ask_again(answer, "--guess")
    yield "an LLM", f"ollama pull {_LLM} && {_ask_again(answer, '--llm', f'ollama/{_LLM}')}"


def _ask_again(answer: Answer, *options: str) -> str:
    return f"{own_command()} ask {shlex.quote(answer.question)}{_corpus(answer)} {shlex.join(options)}"


def _corpus(answer: Answer) -> str:
    name = str(answer.settings.get("corpus", ""))
    return f" --corpus {shlex.quote(name)}" if name not in ("", "default") else ""


def _raised(answer: Answer, cap: Cap) -> tuple[str, str]:
    """The option of a limit, with twice its value."""
    limit = answer.settings.get(f"max_{cap.value}")
    doubled = f"{2 * limit:g}" if isinstance(limit, int | float) else "N"
    return f"--max-{cap.value}", doubled
