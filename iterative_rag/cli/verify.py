"""`iterative-rag verify`: what has become of the quotes of a proof file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, out, write_json
from iterative_rag.cli.options import AsJson, corpus_names, settings_from
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.app.proof.proof_check import ProofCheck, QuoteCheck

# The page of an article of a long proof takes a few megabytes at most.
_MOST_BYTES = 64 * 1024 * 1024
_STYLES = {"unchanged": "green", "document changed": "yellow", "moved": "yellow"}


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A proof file: HTML or JSON.")],
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="NAME",
            help="Check against this corpus; without it, the one that the proof names.",
            autocompletion=corpus_names,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the quotes of a proof file against a corpus, and say what changed since.

    Exit codes: 0 all quotes still stand in their documents; 1 some do not, or there are none; 2 the file is no proof,
    or was changed since it was made; 4 no such corpus.
    """
    from iterative_rag.app.factory import open_asked
    from iterative_rag.app.proof.proof_check import check_proof, documents_in
    from iterative_rag.app.proof.proof_file import read_proof

    data = read_proof(_text_of(file))
    named = data.get("corpus")
    asked = corpus or (named if isinstance(named, str) else None)
    with closing(open_asked(settings_from(corpus=asked))) as opened:
        check = check_proof(data, documents_in(opened))
        _show(check, opened.name, as_json=as_json)
    if not check.holds:
        raise typer.Exit(1)


def _text_of(file: Path) -> str:
    from iterative_rag.system.files import readable

    try:
        with readable(file).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", hint="Name a proof file.") from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{file} is too large for a proof.", hint="Name a proof file.")
    return content.decode("utf-8", "replace")


def _show(check: ProofCheck, corpus: str, *, as_json: bool) -> None:
    if as_json:
        write_json(asdict(check) | {"checked_against": corpus, "holds": check.holds})
        return
    printer = out()
    printer.line((clean(check.question), "bold"))
    if check.short_answer:
        printer.line(clean(check.short_answer))
    printer.line((f"{clean(check.made_by)}, {clean(check.made_at)}; checked against the corpus {clean(corpus)}", "dim"))
    for quote in check.quotes:
        printer.blank()
        finding = str(quote.finding)
        printer.line(f"[{quote.n}] {clean(quote.title)}  ", (_said(quote), _STYLES.get(finding, "red")))
        printer.line((f"“{clean(quote.quote)}”", "dim"), indent="    ")
    printer.blank()
    standing = sum(quote.finding.holds for quote in check.quotes)
    if check.quotes:
        printer.line(f"{standing} of {counted(len(check.quotes), 'quote')} still in place or found again.")
    else:
        printer.line("The proof holds no quote, so nothing is proved.")


def _said(quote: QuoteCheck) -> str:
    from iterative_rag.app.proof.proof_check import ProofFinding

    return {
        ProofFinding.UNCHANGED: "unchanged",
        ProofFinding.IN_PLACE: "the document changed, the quote is in place",
        ProofFinding.MOVED: f"the document changed; the quote is now at characters {quote.start}–{quote.end}",
        ProofFinding.GONE: "the document changed, and the quote is gone",
        ProofFinding.NO_DOCUMENT: "the corpus has no such document",
        ProofFinding.FALSE: "the document is the same, and the quote was never in it",
    }[quote.finding]
