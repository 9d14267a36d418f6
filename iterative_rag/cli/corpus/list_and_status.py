"""`iterative-rag corpus list` and `corpus status`: the corpora, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.completion import corpus_names
from iterative_rag.cli.options import AsJson, settings_from
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.staleness import Staleness
    from iterative_rag.index.corpora import CorpusInfo

_KEYS_SHOWN = 20


def list_corpora(as_json: AsJson = False) -> None:
    """List the corpora."""
    from iterative_rag.app.factory import corpora
    from iterative_rag.cli.console import err, out

    known = corpora()
    infos = [known.info(name) for name in known.names()]
    if as_json:
        _write_json(infos)
        return
    if not infos:
        more = " makes one; the starter corpus is indexed when you first ask something."
        err().line("No corpus yet: ", ("iterative-rag index PATH", "bold"), more)
    for info in infos:
        questions = f", {counted(info.questions, 'question')}" if info.questions else ""
        out().line(
            (info.name, "bold"),
            f"  {counted(info.documents, 'document')}, {counted(info.passages, 'passage')}{questions}, {info.state}",
        )


def status(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="All of them if none is named.", autocompletion=corpus_names)
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Read the sources of NAME again and tell what is stale.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Show documents, passages, embedder, size and date of a corpus, and what has changed since at its sources."""
    from iterative_rag.app.factory import corpora, stale
    from iterative_rag.cli.console import clean, err, out

    known = corpora()
    infos = [known.info(one) for one in ([name] if name else known.names())]
    readable = bool(name) and infos[0].state in ("ready", "incomplete")
    found = stale(name, settings_from()) if name and check and infos[0].state != "damaged" else None
    keys = known.keys(name) if name and readable else []
    if as_json:
        _write_json(infos, found, keys)
        return
    for number, info in enumerate(infos):
        if number:
            out().blank()
        for label, value in _facts(info, found, keys):
            out().line((f"{label:<11}", "dim"), value)
    for root, reason in found.unread if found else ():
        err().line(("not compared ", "yellow"), clean(f"{root}: {reason}"))


def _facts(info: CorpusInfo, found: Staleness | None, keys: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    from iterative_rag.cli.console import clean, size

    stale = [("stale", _told(info.name, found))] if found else []
    named = ", ".join(f"{clean(key)} ({documents:,})" for key, documents in keys[:_KEYS_SHOWN])
    more = f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
    return [
        ("corpus", info.name),
        ("documents", f"{info.documents:,}"),
        ("passages", f"{info.passages:,}"),
        *([("questions", f"{info.questions:,}, by which passages are found")] if info.questions else []),
        ("languages", _languages(info)),
        ("embedder", info.embedder),
        ("size", size(info.bytes)),
        ("updated", str(info.updated)),
        ("state", str(info.state)),
        *([("--where", named + more)] if keys else []),
        *stale,
    ]


def _languages(info: CorpusInfo) -> str:
    """ "German (12), English or not clear (3)" """
    from iterative_rag.text.languages import language_names

    counts = {language_names()[code]: count for code, count in info.languages.items()}
    rest = info.documents - sum(counts.values())
    counts |= {"English or not clear": rest} if rest else {}
    return ", ".join(f"{named} ({count:,})" for named, count in sorted(counts.items(), key=lambda one: -one[1]))


def _told(name: str, found: Staleness) -> str:
    import shlex

    if not found.roots:
        return "not known of all its sources" if found.unread else "nothing"
    again = shlex.join(["iterative-rag", "index", *found.roots, "--corpus", name])
    return f"{found.new} new, {found.changed} changed, {found.gone} gone; {again} brings it up to date"


def _write_json(
    infos: Sequence[CorpusInfo], found: Staleness | None = None, keys: Sequence[tuple[str, int]] = ()
) -> None:
    import dataclasses

    from iterative_rag.cli.console import write_json

    told = {"corpora": [dataclasses.asdict(info) for info in infos]}
    if keys:
        told["corpora"][0]["keys"] = dict(keys)
    if found:
        told["corpora"][0]["stale"] = dataclasses.asdict(found)
    write_json(told)
