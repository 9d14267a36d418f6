"""The tree of commands, and the rule that a bare question means `ask`."""

from __future__ import annotations

import copy
import difflib
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.main import get_command, get_command_name
from typer.models import CommandInfo

from iterative_rag.cli import ask, chat, doctor, index_search_show, mcp, serve, trace_and_cache, trust, verify
from iterative_rag.cli.conversations import conversations_app
from iterative_rag.cli.corpus import corpus_app
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.cli.help_layout import HelpLayout
from iterative_rag.cli.history import history_app
from iterative_rag.cli.keys import keys_app
from iterative_rag.cli.usage_errors import PARSER_ERROR, in_our_words
from iterative_rag.system.environment import OPTIONS, PREFIX, SETTINGS_OF_THEIR_OWN

EXIT_CODES = """Exit codes: 0 answered; 2 wrong usage; 3 abstained: the corpus does not hold it; 4 corpus or index;
5 LLM or embedder; 6 incomplete: a limit was reached or documents could not be read,
and the best answer so far is printed; 130 interrupted."""

_FALSE = frozenset({"", "0", "false", "no", "off"})


def _examples(*lines: str) -> str:
    """An epilog whose line breaks are kept."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    name="iterative-rag",
    help="Answers multi-hop questions over a corpus of articles, hop by hop, with quoted citations.\n\n"
    "A bare question is the same as `ask`.",
    epilog=_examples(
        'iterative-rag "Who was the mother of the 15th first lady of the United States?"',
        "iterative-rag index articles/ --corpus mine",
        'iterative-rag ask "..." --corpus mine --llm ollama/llama3.1:8b',
        "iterative-rag doctor",
    )
    + "\n\n"
    + EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        from iterative_rag import __version__

        typer.echo(f"iterative-rag {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks (or set ITERATIVE_RAG_DEBUG=1).")] = False,
) -> None:
    from iterative_rag.cli.console import show_warnings

    show_warnings()


app.command(
    epilog=_examples(
        'iterative-rag ask "Which river flows through the capital of the Czech Republic?"',
        'iterative-rag ask "..." --llm ollama/llama3.1:8b --preset thorough',
        'iterative-rag ask "..." --json | jq -r .short_answer',
        "echo 'Who ...?' | iterative-rag ask -",
    )
    + "\n\n"
    + EXIT_CODES
)(ask.ask)
app.command(
    epilog=_examples(
        "iterative-rag chat",
        'iterative-rag chat --corpus mine --conversation "The bridges of Porto"',
        "iterative-rag chat < questions.txt > answers.txt",
    )
)(chat.chat)
app.add_typer(conversations_app, name="conversations")
app.command(
    epilog=_examples(
        "iterative-rag index articles/",
        "iterative-rag index pages.jsonl.gz --corpus pages",
    )
)(index_search_show.index)
app.add_typer(corpus_app, name="corpus")
app.command(epilog=_examples('iterative-rag search "first lady niece" --limit 5'))(index_search_show.search)
app.command(epilog=_examples('iterative-rag show "Harriet Lane"'))(index_search_show.show)
app.command(
    epilog=_examples(
        "iterative-rag trace", "iterative-rag trace first lady", "iterative-rag trace 20250131-1425 --json | jq .event"
    )
)(trace_and_cache.trace)
app.command(
    epilog=_examples("iterative-rag serve", "iterative-rag serve --corpus mine --llm ollama/llama3.1:8b --port 8000")
)(serve.serve)
app.command(epilog=_examples("iterative-rag verify proof.html", "iterative-rag verify proof.html --corpus mine"))(
    verify.verify
)
app.add_typer(history_app, name="history")
app.command(epilog=_examples("iterative-rag mcp --corpus mine", "iterative-rag mcp --llm ollama/llama3.1:8b"))(mcp.mcp)
app.add_typer(trace_and_cache.cache_app, name="cache")
app.add_typer(evaluate_app, name="evaluate")
app.add_typer(keys_app, name="keys")
app.command(epilog=_examples("iterative-rag trust", "iterative-rag trust --list", "iterative-rag trust --remove"))(
    trust.trust
)
app.command(epilog=_examples("iterative-rag doctor", "iterative-rag doctor --qualify --llm ollama/llama3.1:8b"))(
    doctor.doctor
)

COMMANDS = (
    "ask",
    "chat",
    "conversations",
    "index",
    "corpus",
    "search",
    "show",
    "history",
    "mcp",
    "trace",
    "verify",
    "serve",
    "cache",
    "evaluate",
    "keys",
    "trust",
    "doctor",
)
# Their words are joined to one text, and they report an empty one themselves.
_TAKE_EMPTY_WORDS = frozenset({"ask", "search"})
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
    command = get_command(_called(arguments))
    _refuse_empty(command, arguments)
    _name_variables(command)
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


def _name_variables(command: Any) -> None:
    """Give each option that is no setting its environment variable, as settings have: ITERATIVE_RAG_JSON=1. So have
    those that share the name of a setting, but do not take their value from it."""
    for option in _options_of(command):
        name = option_name(option)
        own_default = option.default is not None and name in SETTINGS_OF_THEIR_OWN
        if name in OPTIONS or option.required or own_default or option.name in SETTINGS_OF_THEIR_OWN:
            option.envvar = PREFIX + name.upper()
            option.show_envvar = False


def option_name(option: Any) -> str:
    """`max_hops` for --max-hops"""
    return str(max(option.opts, key=len)).lstrip("-").replace("-", "_")


def _called(arguments: list[str]) -> typer.Typer:
    """The tree reduced to the command that is called: building all commands takes 25 ms."""
    if not arguments or arguments[0] not in COMMANDS:
        return app
    called = copy.copy(app)
    called.registered_commands = [one for one in app.registered_commands if _name(one) == arguments[0]]
    called.registered_groups = [one for one in app.registered_groups if one.name == arguments[0]]
    return called


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(command.callback.__name__ if command.callback else "")


def _refuse_empty(command: Any, arguments: list[str]) -> None:
    """Reject "", which an unset shell variable leaves: it would mean a default, or the working folder for a path."""
    from iterative_rag.errors import UsageError

    hint = "If it came from a shell variable, that one is not set."
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    valued = {name for option in _options_of(command) for name in option.opts if not option.is_flag}
    given = [*pairwise(options), *(word.split("=", 1) for word in options if "=" in word)]
    for name, value in given:
        if name in valued and not value.strip():
            raise UsageError(f"The value of {name} is empty.", hint=hint)
    if arguments and arguments[0] not in _TAKE_EMPTY_WORDS and not all(word.strip() for word in arguments):
        raise UsageError(f"An argument of {arguments[0]} is empty.", hint=hint)


def _options_of(command: Any) -> Iterator[Any]:
    """All options of a command and of its subcommands."""
    yield from (parameter for parameter in command.params if parameter.param_type_name == "option")
    for below in getattr(command, "commands", {}).values():
        yield from _options_of(below)
