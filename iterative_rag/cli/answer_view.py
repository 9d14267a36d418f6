"""An answer for human eyes: its text, citations, what comes nearest to an answer, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from iterative_rag.cli.console import Piece, Printer, clean
from iterative_rag.storage import output
from iterative_rag.text.markup import plain
from iterative_rag.text.text_blocks import TextBlock, TextHeading, TextParagraph, TextTable, text_blocks
from iterative_rag.types import Answer, AnswerForm, Citation, ReasonCode, Status

_COPIES_SHOWN = 3


def show_answer(answer: Answer, printer: Printer) -> None:
    """The short answer, the sentence, the numbered citations, what to try and one line of cost."""
    head = output.headline(answer)
    if answer.status in (Status.ABSTAINED, Status.INCOMPLETE):
        printer.line(head, clean(answer.reason or answer.text))
        head = ("", "")
    if answer.status is Status.INCOMPLETE and (answer.text or answer.short_answer):
        printer.line(("Best answer so far:", "yellow"))
    if answer.form is AnswerForm.EXTRACT:
        printer.line(head)
    elif answer.form.is_text and answer.text:
        if any(head):
            printer.line(head)
        _show_blocks(answer.text, printer)
    elif answer.text or answer.short_answer:
        _show_text(answer, printer, head)
    _show_remarks(answer, printer)
    if answer.citations:
        printer.blank()
    for citation in answer.citations:
        show_citation(citation, printer)
    if answer.nearest:
        printer.blank()
        printer.line((output.NEAREST, "yellow"))
    for passage in answer.nearest:
        show_citation(passage, printer)
    if tries := list(_to_try(answer)):
        printer.blank()
        printer.line(("To try:", "yellow"))
    for what, typed in tries:
        printer.command(clean(f"{what}: {typed}" if typed else what), indent="  ")
    printer.blank()
    printer.line((output.cost(answer), "dim"))


def _show_text(answer: Answer, printer: Printer, head: Piece) -> None:
    """The answer with its value made bold; the value in a line of its own where the text does not hold it. The first
    line begins with `head`."""
    if short := output.apart(answer):
        printer.line(head, (short, "bold green"))
        head = ""
    for line in output.said_lines(answer):
        before, value, after = output.around_value(line, answer)
        printer.line(head, before, (value, "bold green"), after)
        head = ""


def _show_remarks(answer: Answer, printer: Printer) -> None:
    for link in output.chain_lines(answer):
        printer.line(clean(link), indent="  ", hang="    ")
    if answer.last_attempt:
        printer.line(("Last attempt", "bold yellow"), ": nothing more was found; this is what the facts make likely")
    for taken in output.taken_lines(answer):
        printer.line(clean(taken))
    for label, style, texts in (("also", "dim", answer.also), ("caveat", "yellow", answer.caveats)):
        for text in texts:
            printer.line((label, style), f"  {clean(plain(text))}", hang="    ")
    for conflict in output.told_apart(answer):
        sides = "; ".join(f"{side.value} {output.marks(side.facts)}" for side in conflict.sides)
        printer.line(("Sources differ", "bold yellow"), f" ({clean(conflict.need)}): {clean(sides)}")
    # Where an answer is incomplete, its reason names what was not read.
    for document in answer.unread if answer.status in (Status.ANSWERED, Status.EXTRACT) else ():
        told = f": {clean(document.title)} (for: {clean(document.need)}): {clean(document.reason)}"
        printer.line(("Not read", "yellow"), told)
    if answer.corpus_notice:
        printer.line(("Note: ", "bold yellow"), clean(answer.corpus_notice))


def _show_blocks(text: str, printer: Printer) -> None:
    """A text as it is laid out: headings, paragraphs, entries, tables."""
    before: TextBlock | None = None
    for block in text_blocks(text):
        together = isinstance(before, TextParagraph) and before.entry
        if before is not None and not (together and isinstance(block, TextParagraph) and block.entry):
            printer.blank()
        match block:
            case TextHeading(said):
                printer.line((said, "bold"))
            case TextParagraph(said, entry):
                printer.line(f"{'• ' if entry else ''}{said}", hang="  " if entry else "")
            case TextTable((head, *rows)):
                for row in (head, ["---"] * len(head), *rows):
                    printer.line(f"| {' | '.join(row)} |")
        before = block


def show_citation(citation: Citation, printer: Printer) -> None:
    number = f"[{citation.n}] "
    hang = " " * len(number)
    link = f" link {citation.link}" if citation.link else ""
    printer.line(
        (number, "cyan"),
        (clean(citation.title), f"bold{link}"),
        (f"  {clean(output.origin(citation, shown_source))}", "dim"),
        hang=hang,
    )
    printer.line(f"“{clean(output.quote_of(citation))}”", indent=hang)
    if citation.link and citation.link != citation.source:
        printer.line((clean(citation.link), f"dim{link}"), indent=hang)
    if citation.copies:
        others = [shown_source(source) for source in citation.copies[:_COPIES_SHOWN]]
        more = f" and {len(citation.copies) - _COPIES_SHOWN} more" if len(citation.copies) > _COPIES_SHOWN else ""
        printer.line((f"The same text: {clean(', '.join(others))}{more}", "dim"), indent=hang)


def shown_source(source: str) -> str:
    """A path below the working folder is shown relative to it; anything else as it is."""
    path, here = Path(source), Path.cwd()
    # Below the root everything would be "relative", and no longer look like a path.
    if path.is_absolute() and path.is_relative_to(here) and here != Path(here.anchor):
        return str(path.relative_to(here))
    return source


def _to_try(answer: Answer) -> Iterator[tuple[str, str]]:
    from iterative_rag.app.proof.answer_export import to_try

    for title, command in output.fetch_commands(answer):
        yield output.NO_ARTICLE.format(clean(title)), command
    if answer.reason_code is ReasonCode.NOT_IN_CORPUS:
        from iterative_rag.app.factory import corpora

        asked = output.corpus_option(answer.settings.get("corpus", ""))
        others = [] if asked else [named for name in corpora().names() if (named := output.corpus_option(name))]
        if others:
            yield "another corpus", f"iterative-rag ask {shlex.quote(answer.question)}{others[0]}"
        yield "what the corpus has", f"iterative-rag search {shlex.quote(answer.question)}{asked}"
    yield from to_try(answer)
