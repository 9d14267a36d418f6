"""`index`, `search` and `show`: the commands that need no LLM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.completion import titles
from iterative_rag.cli.options import (
    AsJson,
    CorpusName,
    EmbedderSpec,
    IndexAt,
    LLMSpec,
    MaxIndexingCalls,
    Questions,
    Quiet,
    RefusedSeconds,
    announce_starter,
    settings_from,
)
from iterative_rag.cli.settings_options import SEARCHING, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.registry import FORMATS, in_words
from iterative_rag.sources.metadata import kinds_not_read, told
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.hypothetical_questions import QuestionReport
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.protocols import Skipped
    from iterative_rag.settings import Settings
    from iterative_rag.types import Hit

ENGINES = ("local", "ray")
_SKIPPED_SHOWN = 20
_LEFT_OUT_SHOWN = 3


def index(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help=f"Folders, or files: {in_words(FORMATS.names)}.",
        ),
    ],
    corpus: CorpusName = None,
    embedder: EmbedderSpec = None,
    index: IndexAt = None,
    engine: Annotated[str, typer.Option(metavar="NAME", help="What embeds: local, or ray (many machines).")] = "local",
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="The Ray cluster; auto: this machine's; none: a new one here."),
    ] = "",
    refused_seconds: RefusedSeconds = None,
    questions: Questions = None,
    llm: LLMSpec = None,
    max_indexing_calls: MaxIndexingCalls = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until it is stopped, and index what changes in the files.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Each event as one JSON object on a line of stdout.")] = False,
    quiet: Quiet = False,
) -> None:
    """Bring a corpus up to date with files and folders of them, in any mix of formats.

    A record of a .json or .jsonl file is {"title": ..., "text": ..., "url": ...} ("passage" does for "text"); a .json
    file may be SQuAD's as well. Web pages, PDF and Word files, and texts that are not UTF-8, need the extra "files".
    Only new and changed documents are embedded; those that are gone are removed. With --questions, the LLM of --llm
    writes questions that each passage answers, one call a passage, and searches find the passage by them too.
    With --watch, files that are written, replaced or removed later are indexed once they have stopped changing, until
    Ctrl-C or SIGTERM ends the command with exit code 0. Between two updates the corpus is free for other commands.
    """
    ray = _ray_address(engine, address)
    if watch and ray is not None:
        raise UsageError("--watch embeds in this process.", hint="Leave out --engine, or index without --watch.")
    settings = settings_from(corpus=corpus, embedder=embedder, index=index, index_questions=questions, llm=llm)
    from iterative_rag.app.factory import index_paths, make_embedder
    from iterative_rag.cli.index_watch import JsonTeller, Teller, keep_in_step
    from iterative_rag.cli.progress import indexing
    from iterative_rag.system.memory import limit_arenas

    limit_arenas()
    if settings.index_questions and not quiet:
        _announce_questions(settings.index_questions, max_indexing_calls)
    update = partial(
        index_paths,
        paths,
        settings=settings,
        corpus=corpus,
        embedder=make_embedder(settings.embedder, settings),
        ray=ray,
        refused_seconds=refused_seconds,
        max_calls=max_indexing_calls,
    )
    teller = JsonTeller() if as_json else Teller(quiet=quiet)
    if watch:
        keep_in_step(paths, update, teller, quiet=quiet)
        return
    with indexing(quiet=quiet) as progress:
        report = update(progress=progress)
    teller.first(report)


def _ray_address(engine: str, address: str) -> str | None:
    """The address of the Ray cluster that embeds; None where this process does."""
    if engine not in ENGINES:
        raise UsageError(f"There is no engine {engine!r}.", hint=f"One of: {', '.join(ENGINES)}.")
    if address and engine != "ray":
        raise UsageError("--address is that of a Ray cluster.", hint="Add --engine ray.")
    return address if engine == "ray" else None


def _announce_questions(wanted: int, max_calls: int | None) -> None:
    """The cost, before it arises. How many passages there are is not known before all of them are read."""
    from iterative_rag.cli.console import err

    limit = f", {counted(max_calls, 'call')} at most" if max_calls is not None else ""
    each = f"{counted(wanted, 'question')} for each passage"
    err().line((f"Writing {each}: at least one LLM call for each passage that has none{limit}.", "dim"))


def _show_questions(at: QuestionReport) -> None:
    """How many questions were written, what they cost, and what is missing."""
    from iterative_rag.cli.console import err

    tokens = at.prompt_tokens + at.completion_tokens
    err().line(
        f"{counted(at.written, 'question')} written in {counted(at.calls, 'LLM call')} ({tokens:,} tokens; "
        f"{counted(at.cached, 'reply', 'replies')} from the cache)"
    )
    if at.unreadable:
        err().line((f"{counted(at.unreadable, 'passage')} got none: the replies could not be read.", "yellow"))
    if at.postponed:
        limit = f"{counted(at.postponed, 'document')} still without questions: the limit of calls was reached."
        err().line((limit, "yellow"), " The same command goes on.")


def show_report(report: IngestReport, *, quiet: bool) -> None:
    from iterative_rag.cli.console import clean, err

    shown = [skipped for skipped in report.skipped if not skipped.extra]
    for skipped in shown[:_SKIPPED_SHOWN]:
        err().line(("skipped ", "yellow"), clean(f"{skipped.source}: {skipped.reason}"))
    if len(shown) > _SKIPPED_SHOWN:
        err().line((f"… and {len(shown) - _SKIPPED_SHOWN} more skipped", "yellow"))
    if not quiet:
        for path, root in report.covered:
            err().line(clean(f"{path} belongs to {root}, which this corpus holds: all of it was indexed."))
        if report.retitled:
            documents = counted(report.retitled, "document of the same text has", "documents of the same text have")
            err().line(f"{documents} another title than before, so indexed again.")
        _show_counts(report)
        if report.not_read:
            err().line(("Not read: ", "yellow"), clean(f"{told(dict(report.not_read))}."))
        if report.questions:
            _show_questions(report.questions)
        if report.notice:
            err().line(("Note: ", "yellow"), clean(report.notice))
    _show_left_out([skipped for skipped in report.skipped if skipped.extra])


def _show_left_out(left_out: Sequence[Skipped]) -> None:
    """What an extra would read: how many files of each kind, the first names, and the command that installs it."""
    from iterative_rag.cli.console import clean, err
    from iterative_rag.errors.installation import install_command

    for extra in dict.fromkeys(skipped.extra for skipped in left_out):
        names = [Path(skipped.source).name for skipped in left_out if skipped.extra == extra]
        kinds = Counter(Path(name).suffix.lower() for name in names)
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        first = ", ".join(names[:_LEFT_OUT_SHOWN]) + (", …" if len(names) > _LEFT_OUT_SHOWN else "")
        err().line(("Left out: ", "yellow"), clean(f"{counts} ({first})."))
        err().line("To read them, type this and then the same command again:")
        err().command(install_command(extra), indent="  ")


def _show_counts(report: IngestReport) -> None:
    from iterative_rag.cli.console import out

    rate = f", {report.passages / report.seconds:,.0f}/s" if report.passages and report.seconds else ""
    out().line(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.skipped)} skipped; {counted(report.passages, 'passage')} embedded in {report.seconds:.1f} s{rate}"
    )


# --- searching -----------------------------------------------------------------------


Words = Annotated[list[str], typer.Argument(metavar="WORDS", help="What to search for.")]
PassageLimit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=100, help="Passages.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score is computed.")]


@takes_settings(only=SEARCHING)
def search(
    words: Words,
    *,
    settings: Settings,
    limit: PassageLimit = 10,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Search the corpus: passages with their scores and ranks, without any LLM.

    With * or ?, TEXT is a pattern of the whole name. Passages of a filtered corpus rank as if there were no others.
    """
    query = " ".join(words).strip()
    if not query:
        raise UsageError("There is nothing to search for.", hint='iterative-rag search "WORDS"')
    from iterative_rag.app.factory import cache, for_one_run, open_to_read
    from iterative_rag.cli.console import err

    announce_starter(settings)
    opened = open_to_read(settings, kept=cache(settings))
    try:
        if opened.notice:
            err().line((opened.notice, "dim"))
        with for_one_run(opened, [settings.within]) as part:
            (hits,) = part.search([query], limit)
        found = [(hit, opened.document(hit.document_id).text[hit.start : hit.end]) for hit in hits]
    finally:
        opened.close()
    if as_json:
        import dataclasses

        from iterative_rag.cli.console import write_json

        write_json([{**dataclasses.asdict(hit), "text": text} for hit, text in found])
        return
    if not found:
        err().line(f"Nothing found in {opened.name}.")
    _show_hits(found, explain=explain, settings=settings)


def _show_hits(found: Sequence[tuple[Hit, str]], *, explain: bool, settings: Settings) -> None:
    from iterative_rag.cli.console import clean, out

    for number, (hit, text) in enumerate(found, 1):
        ranks = f"dense {hit.dense_rank or '–'}, BM25 {hit.sparse_rank or '–'}"
        place = f"  {hit.score:.4f} ({ranks})  characters {hit.start}–{hit.end}"
        out().line((f"{number:>2} ", "cyan"), (clean(hit.title), "bold"), (place, "dim"))
        if explain:
            out().line((_explained(hit, settings), "dim"), indent="   ")
        out().line(clean(text), indent="   ")


def _explained(hit: Hit, settings: Settings) -> str:
    """`0.0325 = 1/(60+1) dense + 1/(60+3) BM25`"""
    from iterative_rag.index.rank_fusion import FUSION_K

    ranks = (
        (settings.vector_weight, "dense", hit.dense_rank),
        (settings.bm25_weight, "BM25", hit.sparse_rank),
        (settings.rerank_weight, "reader", hit.reader_rank),
    )
    return f"{hit.score:.4f} = " + " + ".join(
        f"{counted:g}/({FUSION_K}+{rank}) {half}" for counted, half, rank in ranks if rank
    )


def show(
    title: Annotated[
        list[str], typer.Argument(metavar="TITLE", help="The title of a document.", autocompletion=titles)
    ],
    corpus: CorpusName = None,
    embedder: EmbedderSpec = None,
    index: IndexAt = None,
) -> None:
    """Print the documents of a title."""
    from iterative_rag.app.factory import open_to_read
    from iterative_rag.cli.console import clean, err, write

    settings = settings_from(corpus=corpus, embedder=embedder, index=index)
    announce_starter(settings)
    opened = open_to_read(settings)
    try:
        documents = opened.find(" ".join(title))
    finally:
        opened.close()
    for document in documents:
        err().line((document.title, "bold"), (f"  {document.source}", "dim"))
        write(document.text)
        if kinds := kinds_not_read(document):
            err().line(("Not read: ", "yellow"), clean(f"{told(kinds)}."))
