"""Arguments and help: how help is laid out, and what the parser refuses in our words."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import typer

from iterative_rag.errors import UsageError

# typer exports only this subclass of its error for wrong usage.
PARSER_ERROR: Any = typer.BadParameter.__base__

_BASE: Any = typer.Context.formatter_class
_NARROWEST, _WIDEST = 60, 120
# typer adds the Python type of an argument to its name.
_TYPE = re.compile(r" <(?:list\[\w+\]|str|int|float|path)>$")
# What is seldom needed stands in a group of its own, below.
_EXPERT_NAMES = """
address document-language embedder engine fact-limit fast-llm grace index max-calls max-hops
max-seconds max-tokens refused-seconds rerank runs-at-once search-engine section since source
title trace where
"""
_EXPERT = frozenset(f"--{name}" for name in _EXPERT_NAMES.split())
# Their words are joined to one text, and they report an empty one themselves.
_TAKE_EMPTY_WORDS = frozenset({"ask", "search"})


class HelpLayout(_BASE):  # type: ignore[misc]
    """Help as wide as the terminal, typer's own is at most 80 columns, with what is seldom needed in a group below."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = width or min(shutil.get_terminal_size().columns - 1, _WIDEST)
        super().__init__(indent_increment, max(columns, _NARROWEST))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = [(_TYPE.sub("", term), description) for term, description in rows]
        expert = [row for row in rows if re.split(r"[, ]", row[0])[0] in _EXPERT]
        super().write_dl([row for row in rows if row not in expert], col_max, col_spacing)
        if expert:
            self.write("\nOptions for experts:\n")
            super().write_dl(expert, col_max, col_spacing)


# --- options ---------------------------------------------------------------------------------


def options_of(command: Any) -> Iterator[Any]:
    """All options of a command and of its subcommands."""
    yield from (parameter for parameter in command.params if parameter.param_type_name == "option")
    for below in getattr(command, "commands", {}).values():
        yield from options_of(below)


def refuse_empty(command: Any, arguments: list[str]) -> None:
    """Reject "", which an unset shell variable leaves: it would mean a default, or the working folder for a path."""
    hint = "If it came from a shell variable, that one is not set."
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    valued = {name for option in options_of(command) for name in option.opts if not option.is_flag}
    given = [*pairwise(options), *(word.split("=", 1) for word in options if "=" in word)]
    for name, value in given:
        if name in valued and not value.strip():
            raise UsageError(f"The value of {name} is empty.", hint=hint)
    if arguments and arguments[0] not in _TAKE_EMPTY_WORDS and not all(word.strip() for word in arguments):
        raise UsageError(f"An argument of {arguments[0]} is empty.", hint=hint)


# --- errors ----------------------------------------------------------------------------------


def in_our_words(error: Any) -> UsageError:
    """The UsageError for a PARSER_ERROR: one sentence and what to type next."""
    message = str(error.format_message())
    command = error.ctx.command_path if error.ctx else "iterative-rag"
    if message.startswith("No such command"):
        return UsageError(message, hint='To ask a question: iterative-rag "Who ...?"; the commands: iterative-rag -h')
    return UsageError(_refused_value(error) or message, hint=f"{command} -h")


def _refused_value(error: Any) -> str:
    """`--limit 0 is not valid: input should be ...` for what pydantic refused, "" for any other error."""
    cause, option = error.__cause__, getattr(error, "param", None)
    if option is None or not hasattr(cause, "errors"):
        return ""
    from iterative_rag.settings.choices import complaint, shortened

    first = cause.errors()[0]
    typed = shortened(first["input"])
    if option.param_type_name == "option":
        typed = f"{max(option.opts, key=len)} {typed}"
    return f"{typed} is not valid: {complaint(first)}."
