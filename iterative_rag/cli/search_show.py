"""`search` and `show`: what needs no LLM."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, out, write, write_json
from iterative_rag.cli.options import SEARCHING, AsJson, announce_starter, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.sources.metadata import kinds_not_read, told

if TYPE_CHECKING:
    from iterative_rag.settings import Settings


@takes_settings(SEARCHING)
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What to search for.")],
    settings: Settings,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=100, help="Passages.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search the corpus: passages with their scores and ranks, without any LLM.

    With * or ?, TEXT is a pattern of the whole name. Passages of a filtered corpus rank as if there were no others.
    """
    query = " ".join(words).strip()
    if not query:
        raise UsageError("There is nothing to search for.", hint='iterative-rag search "WORDS"')
    from iterative_rag.app.factory import cache, for_one_run, open_to_read

    announce_starter(settings)
    with closing(open_to_read(settings, kept=cache(settings))) as opened:
        if opened.notice:
            err().line((opened.notice, "dim"))
        with for_one_run(opened, [settings.within]) as part:
            (hits,) = part.search([query], limit)
        passages = [(hit, opened.document(hit.document_id).text[hit.start : hit.end]) for hit in hits]
    if as_json:
        write_json([{**dataclasses.asdict(hit), "text": text} for hit, text in passages])
        return
    if not passages:
        err().line(f"Nothing found in {opened.name}.")
    for number, (hit, text) in enumerate(passages, 1):
        ranks = f"dense {hit.dense_rank or '–'}, BM25 {hit.sparse_rank or '–'}"
        details = f"  {hit.score:.4f} ({ranks})  characters {hit.start}–{hit.end}"
        out().line((f"{number:>2} ", "cyan"), (clean(hit.title), "bold"), (details, "dim"))
        out().line(clean(text), indent="   ")


@takes_settings(("corpus", "embedder", "index"))
def show(
    title: Annotated[list[str], typer.Argument(metavar="TITLE", help="The title of a document.")], settings: Settings
) -> None:
    """Print the documents of a title."""
    from iterative_rag.app.factory import open_to_read

    announce_starter(settings)
    with closing(open_to_read(settings)) as opened:
        documents = opened.find(" ".join(title))
    for document in documents:
        err().line((document.title, "bold"), (f"  {document.source}", "dim"))
        write(document.text)
        if kinds := kinds_not_read(document):
            err().line(("Not read: ", "yellow"), clean(f"{told(kinds)}."))
