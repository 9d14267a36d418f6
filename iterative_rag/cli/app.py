"""The tree of commands, and the rule that a bare question means `ask`."""

from __future__ import annotations

import copy
import difflib
import os
from typing import Annotated

import typer
from typer.main import get_command, get_command_name
from typer.models import CommandInfo

from iterative_rag.cli.ask import ask
from iterative_rag.cli.chat import chat
from iterative_rag.cli.console import show_warnings
from iterative_rag.cli.conversations import conversations_app
from iterative_rag.cli.corpus import corpus_app
from iterative_rag.cli.doctor import doctor
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.cli.history import history_app, trace
from iterative_rag.cli.index import index
from iterative_rag.cli.parsing import PARSER_ERROR, HelpLayout, in_our_words, refuse_empty
from iterative_rag.cli.search_show import search, show
from iterative_rag.cli.serve import mcp, serve
from iterative_rag.cli.upkeep import cache_app, keys_app, trust
from iterative_rag.cli.verify import verify

EXIT_CODES = """Exit codes: 0 answered; 2 wrong usage; 3 abstained: the corpus does not hold it; 4 corpus or index;
5 LLM or embedder; 6 incomplete: a limit was reached or documents could not be read,
and the best answer so far is printed; 130 interrupted."""

_FALSE = frozenset({"", "0", "false", "no", "off"})


def _examples(*lines: str) -> str:
    """An epilog whose line breaks are kept."""
    return "\b\nExamples:\n" + "\n".join(f"  iterative-rag {line}".rstrip() for line in lines)


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
    show_warnings()


_ASK = _examples(
    'ask "Which river flows through the capital of the Czech Republic?"',
    'ask "..." --llm ollama/llama3.1:8b --preset thorough',
    'ask "..." --json | jq -r .short_answer',
)
_ASK += "\n  echo 'Who ...?' | iterative-rag ask -\n\n" + EXIT_CODES
app.command(epilog=_ASK)(ask)
app.command(
    epilog=_examples(
        "chat", 'chat --corpus mine --conversation "The bridges of Porto"', "chat < questions.txt > answers.txt"
    )
)(chat)
app.add_typer(conversations_app, name="conversations")
app.command(epilog=_examples("index articles/", "index pages.jsonl.gz --corpus pages"))(index)
app.add_typer(corpus_app, name="corpus")
app.command(epilog=_examples('search "first lady niece" --limit 5'))(search)
app.command(epilog=_examples('show "Harriet Lane"'))(show)
app.command(epilog=_examples("trace", "trace first lady", "trace 20250131-1425 --json | jq .event"))(trace)
app.command(epilog=_examples("serve", "serve --corpus mine --llm ollama/llama3.1:8b --port 8000"))(serve)
app.command(epilog=_examples("verify proof.html", "verify proof.html --corpus mine"))(verify)
app.add_typer(history_app, name="history")
app.command(epilog=_examples("mcp --corpus mine", "mcp --llm ollama/llama3.1:8b"))(mcp)
app.add_typer(cache_app, name="cache")
app.add_typer(evaluate_app, name="evaluate")
app.add_typer(keys_app, name="keys")
app.command(epilog=_examples("trust", "trust --list", "trust --remove"))(trust)
app.command(epilog=_examples("doctor", "doctor --qualify --llm ollama/llama3.1:8b"))(doctor)


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(command.callback.__name__ if command.callback else "")


COMMANDS = (*map(_name, app.registered_commands), *(str(group.name) for group in app.registered_groups))
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


def _called(arguments: list[str]) -> typer.Typer:
    """The tree reduced to the command that is called: building all commands takes 25 ms."""
    if not arguments or arguments[0] not in COMMANDS:
        return app
    called = copy.copy(app)
    called.registered_commands = [command for command in app.registered_commands if _name(command) == arguments[0]]
    called.registered_groups = [group for group in app.registered_groups if group.name == arguments[0]]
    return called
