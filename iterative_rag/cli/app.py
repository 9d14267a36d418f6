"""The tree of commands, how its help is laid out, and the rule that a bare question means `ask`."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.main import get_command

from iterative_rag.cli.console import show_warnings
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
    from iterative_rag.settings.model import complaint, shortened

    first = cause.errors()[0]
    typed = shortened(first["input"])
    if option.param_type_name == "option":
        typed = f"{max(option.opts, key=len)} {typed}"
    return f"{typed} is not valid: {complaint(first)}."


EXIT_CODES = """Exit codes: 0 answered; 2 wrong usage; 3 abstained: the corpus does not hold it; 4 corpus or index;
5 LLM or embedder; 6 incomplete: a limit was reached or documents could not be read,
and the best answer so far is printed; 130 interrupted."""

_FALSE = frozenset({"", "0", "false", "no", "off"})


def _examples(*lines: str) -> str:
    """An epilog whose line breaks are kept."""
    return "\b\nExamples:\n" + "\n".join(f"  iterative-rag {line}".rstrip() for line in lines)


def _version(wanted: bool) -> None:
    if wanted:
        from iterative_rag import __version__

        typer.echo(f"iterative-rag {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks (or set ITERATIVE_RAG_DEBUG=1).")] = False,
) -> None:
    show_warnings()


# Where each command stands below this package ("module:attribute"), with the examples of its help; and where each group
# of commands does, which has its own. What is called is imported, and nothing else: all of them take 15 ms.
_COMMANDS = {
    "ask": (
        "ask:ask",
        'ask "Which river flows through the capital of the Czech Republic?"',
        'ask "..." --llm ollama/llama3.1:8b --preset thorough',
        'ask "..." --json | jq -r .short_answer',
    ),
    "chat": (
        "chat:chat",
        "chat",
        'chat --corpus mine --conversation "The bridges of Porto"',
        "chat < questions.txt > answers.txt",
    ),
    "index": ("index:index", "index articles/", "index pages.jsonl.gz --corpus pages"),
    "search": ("search_show:search", 'search "first lady niece" --limit 5'),
    "show": ("search_show:show", 'show "Harriet Lane"'),
    "trace": ("history:trace", "trace", "trace first lady", "trace 20250131-1425 --json | jq .event"),
    "serve": ("serve:serve", "serve", "serve --corpus mine --llm ollama/llama3.1:8b --port 8000"),
    "verify": ("verify:verify", "verify proof.html", "verify proof.html --corpus mine"),
    "mcp": ("serve:mcp", "mcp --corpus mine", "mcp --llm ollama/llama3.1:8b"),
    "trust": ("upkeep:trust", "trust", "trust --list", "trust --remove"),
    "doctor": ("doctor:doctor", "doctor", "doctor --qualify --llm ollama/llama3.1:8b"),
    "conversations": ("history:conversations_app",),
    "corpus": ("corpus:corpus_app",),
    "history": ("history:history_app",),
    "cache": ("upkeep:cache_app",),
    "evaluate": ("evaluate:evaluate_app",),
    "keys": ("upkeep:keys_app",),
}
COMMANDS = tuple(_COMMANDS)
_OWN_OPTIONS = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})


def route(arguments: list[str]) -> tuple[list[str], bool]:
    """The arguments, with `ask` inserted before a bare question, and whether `--debug` occurs before `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end] or os.environ.get("ITERATIVE_RAG_DEBUG", "").lower() not in _FALSE
    arguments = [argument for argument in arguments[:end] if argument != "--debug"] + arguments[end:]
    if not arguments or arguments[0] in COMMANDS or arguments[0] in _OWN_OPTIONS:
        return arguments, debug
    return (["ask", *arguments], debug) if _is_question(arguments) else (arguments, debug)


def _is_question(arguments: list[str]) -> bool:
    """False for a single word and for what looks like a mistyped command: the parser rejects those."""
    first = arguments[0]
    if first.startswith("-") or not first or any(character.isspace() or character == "?" for character in first):
        return True
    swapped = any(sorted(first) == sorted(command) for command in COMMANDS)
    return len(arguments) > 1 and not swapped and not difflib.get_close_matches(first, COMMANDS, n=1, cutoff=0.75)


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code. Raises UsageError for wrong arguments, and what the command raises."""
    command = get_command(_tree(arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS))
    refuse_empty(command, arguments)
    # Where a command is built, help is laid out by this class; typer has no argument for it.
    command.context_class.formatter_class = HelpLayout
    try:
        code = command(arguments, prog_name="iterative-rag", standalone_mode=False)
    except PARSER_ERROR as error:
        if str(error.message).startswith("Usage: "):  # the help, where a command is missing
            error.show()
            return int(error.exit_code)
        raise in_our_words(error) from error
    return code if isinstance(code, int) else 0


def _tree(names: Sequence[str]) -> typer.Typer:
    """The command line with these commands and groups."""
    app = typer.Typer(
        name="iterative-rag",
        help="Answers multi-hop questions over a corpus of articles, hop by hop, with quoted citations.\n\n"
        "A bare question is the same as `ask`.",
        epilog=_examples(
            '"Who was the mother of the 15th first lady of the United States?"',
            "index articles/ --corpus mine",
            'ask "..." --corpus mine --llm ollama/llama3.1:8b',
            "doctor",
        )
        + "\n\n"
        + EXIT_CODES,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_options)
    for name in names:
        target, *examples = _COMMANDS[name]
        module, attribute = target.split(":")
        found = getattr(import_module(f"iterative_rag.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            more = f"\n  echo 'Who ...?' | iterative-rag ask -\n\n{EXIT_CODES}" if name == "ask" else ""
            app.command(name, epilog=_examples(*examples) + more)(found)
    return app
