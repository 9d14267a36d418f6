"""Errors of the parser of arguments as errors of this package: one sentence and what to type next."""

from __future__ import annotations

import re
from typing import Any

import typer

from iterative_rag.errors import UsageError

# typer exports only this subclass of its error for wrong usage.
PARSER_ERROR: Any = typer.BadParameter.__base__
_CHOICE = re.compile(r"Invalid value for '?(?P<option>--[\w-]+)'?: '(?P<typed>.*)' is not one of (?P<choices>.*)\.")


def in_our_words(error: Any) -> UsageError:
    """The UsageError for a PARSER_ERROR."""
    message = str(error.format_message())
    command = error.ctx.command_path if error.ctx else "iterative-rag"
    if message.startswith("No such command"):
        return UsageError(message, hint='To ask a question: iterative-rag "Who ...?"; the commands: iterative-rag -h')
    if bad := _refused_value(error) or _refused_choice(message):
        message = bad
    return UsageError(message, hint=f"{command} -h")


def _refused_choice(message: str) -> str:
    """`--strategy x is not valid: it must be one of …` for what a check of an option has refused, else ""."""
    found = _CHOICE.fullmatch(message)
    return f"{found['option']} {found['typed']} is not valid: it must be one of {found['choices']}." if found else ""


def _refused_value(error: Any) -> str:
    """`--limit 0 is not valid: it must be at least 1.` for what pydantic refused, "" for any other error."""
    cause, option = error.__cause__, getattr(error, "param", None)
    if option is None or not hasattr(cause, "errors"):
        return ""
    from iterative_rag.settings.validation_words import required, shortened

    first = cause.errors()[0]
    typed = shortened(first["input"])
    if str(getattr(error.ctx.get_parameter_source(option.name), "name", "")) == "ENVIRONMENT":
        typed = f"{option.envvar}={typed}"
    elif option.param_type_name == "option":
        typed = f"{max(option.opts, key=len)} {typed}"
    return f"{typed} is not valid: it must be {required(first)}."
