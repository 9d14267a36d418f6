"""`trace` replays a run; `cache` shows and clears what is cached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.completion import run_names
from iterative_rag.cli.history import tell_others
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.storage.cache import DiskCache


def trace(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[last|ID|WORDS]",
            help="A run: the beginning of its id, or words of its question or answer.",
            autocompletion=run_names,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as they were written, one a line.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Show the prompt and reply of every LLM call.")] = False,
) -> None:
    """Replay what happened in a run, hop by hop."""
    from iterative_rag.storage.past_runs import LAST, events_of, find_runs

    words = " ".join(run or [LAST])
    found = find_runs(words)
    events = events_of(found[0])
    tell_others(found, words)
    if as_json:
        from iterative_rag.cli.console import write_json

        for event in events:
            write_json(event, indent=None)
        return
    from iterative_rag.cli.console import out
    from iterative_rag.cli.replay import replay

    replay(events, out(), calls=calls)


cache_app = typer.Typer(
    help="Show what the cache holds, or clear it.",
    invoke_without_command=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n  iterative-rag cache\n  iterative-rag cache clear",
)


@cache_app.callback()
def _cache(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        stats()


@cache_app.command("stats")
def stats() -> None:
    """Show entries, size and hits."""
    from iterative_rag.cli.console import out, size

    kept = _disk_cache()
    numbers = kept.stats()
    asked = numbers.hits + numbers.misses
    share = f" ({numbers.hits / asked:.0%})" if asked else ""
    out().line(("entries  ", "dim"), f"{numbers.entries:,}")
    out().line(("size     ", "dim"), size(numbers.bytes))
    out().line(("hits     ", "dim"), f"{numbers.hits:,} of {asked:,}{share}")


@cache_app.command("clear")
def clear() -> None:
    """Remove every entry."""
    from iterative_rag.cli.console import err

    kept = _disk_cache()
    entries = kept.stats().entries
    kept.clear()
    err().line(f"Removed {counted(entries, 'entry', 'entries')}.")


def _disk_cache() -> DiskCache:
    from iterative_rag.settings import home
    from iterative_rag.storage.cache import DiskCache

    return DiskCache(home() / "cache")
