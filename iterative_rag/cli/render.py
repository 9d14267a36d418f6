"""Steps and answers for human eyes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from iterative_rag.cli.console import Piece, Printer, clean
from iterative_rag.cli.run_status import RunStatus
from iterative_rag.cli.text_view import show_blocks
from iterative_rag.storage.output import (
    apart,
    around_value,
    chain_lines,
    cost,
    headline,
    marks,
    quote_of,
    said_lines,
    taken_lines,
    told_apart,
)
from iterative_rag.text.markup import plain
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Action,
    AnalysisStep,
    Answer,
    AnswerForm,
    AnsweringStep,
    AnswerText,
    Citation,
    CorrectionStep,
    DegradedStep,
    Fact,
    FinalStep,
    FollowUpStep,
    GradingStep,
    Known,
    LostRowsStep,
    Need,
    Needs,
    PlanningStep,
    ReadingStep,
    RefinementStep,
    ReflectionStep,
    RephrasingStep,
    RunProgress,
    ShortlistStep,
    Status,
    Step,
    Stuck,
    SufficiencyStep,
    ToolStep,
    UnreadDocument,
    WebStep,
)
from iterative_rag.types.written_answer import AnswerDelta, TextWithdrawn, WrittenAnswer

_CONSEQUENCES = {
    Action.ACCEPT: "the answer stands",
    Action.REGENERATE: "written again",
    Action.SEARCH: "it does not answer what was asked: searched once more",
    Action.ABSTAIN: "no answer is better than this one",
    Action.LEAVE_OUT: "left out; the rest stands",
}
# While the run goes on; the answer shows whole quotes, the trace all facts.
_QUOTE_SHOWN = 240  # characters
_ASKED_SHOWN, _TOLD_SHOWN = 48, 60  # characters of what a tool was asked, and of what it said: one line together
_DRAFT_SHOWN = 160  # characters of an answer that was taken back
_COPIES_SHOWN = 3
_FACTS_SHOWN = 3


class HopPrinter:
    """Shows each step as it happens; `status` is the line below that says what is being done."""

    def __init__(self, printer: Printer, status: RunStatus | None = None) -> None:
        self._printer = printer
        self._status = status
        self._written = WrittenAnswer(self._show_draft)
        self._draft = ""
        self._rephrased = ""
        self._hop = 0
        self._needs: tuple[Need, ...] = ()

    def __enter__(self) -> HopPrinter:
        if self._status:
            try:
                self._status.start()
            except BaseException:  # an interrupt: a chat goes on, with the cursor and its stderr as they were
                self._status.stop()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def progress(self, at: RunProgress) -> None:
        """Called between the steps, from any thread."""
        if self._status:
            self._status.progress(at)

    @property
    def written(self) -> Callable[[AnswerText], None] | None:
        """To be told the answer while it is written; None where nobody watches."""
        return self._written.wrote if self._status else None

    def show(self, step: Step) -> None:
        self._written.check(step)
        with self._printer.console:  # written at once, so that the line below is redrawn once
            self._show(step)

    def _show(self, step: Step) -> None:
        match step:
            case AnalysisStep():
                self._analysis(step)
            case ShortlistStep():
                self._shortlist(step)
            case ReadingStep():
                self._reading(step)
            case RephrasingStep():
                self._rephrasing(step)
            case AnsweringStep():
                self._answering(step)
            case PlanningStep():
                self._planning(step)
            case GradingStep():
                self._grading(step)
            case LostRowsStep():
                self._printer.line(("rows missing", "yellow"), f"  {clean(step.caveat)}", indent="  ", hang="    ")
            case CorrectionStep():
                self._correction(step)
            case WebStep():
                self._web(step)
            case RefinementStep():
                self._note("refined", f"{counted(step.kept, 'strip')} kept, {step.dropped} dropped", step.need)
            case SufficiencyStep():
                self._sufficiency(step)
            case ReflectionStep():
                self._reflection(step)
            case DegradedStep():
                self._degraded(step)
            case ToolStep():
                self._tool(step)
            case FollowUpStep():
                self._follow_up(step)
            case FinalStep():
                self._printer.blank()

    def _show_draft(self, told: AnswerDelta | TextWithdrawn) -> None:
        """The text below the hops while it is written; what is taken back stays to be seen, with the reason."""
        before = self._draft
        self._draft = f"{before[: told.start]}{told.text}" if isinstance(told, AnswerDelta) else ""
        if self._status:
            self._status.answer(self._draft)
        if isinstance(told, TextWithdrawn):
            said = (f"“{_short(clean(before), _DRAFT_SHOWN)}”", "dim strike")
            self._printer.line(("taken back", "yellow"), "  ", said, f"  {told.reason}", indent="  ", hang="    ")

    def _note(self, label: str, said: str, need: Need | None = None) -> None:
        which = self._which(need) if need else ""
        self._printer.line((f"{label}{which}", "dim"), "  ", (clean(said), "dim"), indent="  ", hang="    ")

    def _follow_up(self, step: FollowUpStep) -> None:
        if step.question != step.asked:
            self._printer.line(("Understood as: ", "cyan"), (clean(step.question), "bold"), hang="  ")
        self._rephrased = step.question

    def _planning(self, step: PlanningStep) -> None:
        if not step.plan.steps:
            self._note("plan", "nothing is left to look up")
        for number, planned in enumerate(step.plan.steps, 1):
            self._note(f"plan {number}", planned.question)
        self._doing("carrying out the plan")

    def _grading(self, step: GradingStep) -> None:
        graded = sorted(zip(step.grades, step.titles, strict=True), key=lambda item: -item[0].score)
        shown = " · ".join(f"{title} {grade.label.value} {grade.score:.2f}" for grade, title in graded[:_FACTS_SHOWN])
        self._note("graded", f"{step.verdict.value}: {shown}", step.need)

    def _correction(self, step: CorrectionStep) -> None:
        words = " · ".join(step.rewording.phrasings) or step.rewording.broader or "no other words"
        self._note("reworded", words, step.need)
        self._note("found so", " · ".join(entry.title for entry in step.documents) or "nothing new", step.need)

    def _web(self, step: WebStep) -> None:
        listed = " · ".join(entry.source for entry in step.documents) or "no page that serves"
        self._note(f"web ({step.engine})", f"{step.query}: {listed}" if step.query else listed, step.need)
        for fault in step.skipped:
            self._printer.line(("not read", "yellow"), f"  {clean(fault.title)}: {clean(fault.message)}", indent="  ")

    def _sufficiency(self, step: SufficiencyStep) -> None:
        judged = step.sufficiency
        self._note("checked", "the facts suffice" if judged.enough else f"missing: {judged.gap or judged.reason}")

    def _reflection(self, step: ReflectionStep) -> None:
        for claim in step.reflection.claims:
            if not claim.grounded:
                said = f"  {clean(claim.text)}: {clean(claim.reason)}"
                self._printer.line(("not proved", "yellow"), said, indent="  ", hang="    ")
        self._note("reflected", _CONSEQUENCES[step.action])

    def _degraded(self, step: DegradedStep) -> None:
        said = f"  {clean(step.error)}: {clean(step.message)}"
        self._printer.line((f"without {clean(step.role)}", "yellow"), said, indent="  ", hang="    ")

    def _tool(self, step: ToolStep) -> None:
        if step.hop > self._hop:
            self._hop = step.hop
            self._printer.line((f"hop {step.hop}", "bold cyan"))
        self._note(step.tool, f"{_short(step.asked, _ASKED_SHOWN)} → {_short(step.told, _TOLD_SHOWN)}")

    def _doing(self, what: str) -> None:
        if self._status:
            self._status.doing(what)

    def _analysis(self, step: AnalysisStep) -> None:
        if step.known:
            said = f"{counted(len(step.known), 'fact')} found for earlier questions"
            self._printer.line((said, "dim"))
        match step.analysis:
            case Needs(needs):
                self._needs = needs
                self._header(step)
                for number, need in enumerate(needs, 1):
                    label = f"need {number}" if len(needs) > 1 else "need"
                    self._printer.line((label, "dim"), "  ", (clean(need.question), ""), indent="  ", hang="        ")
                self._doing("shortlisting documents")
            case Known():
                self._printer.line(("known: the facts so far may answer the question", "dim"), indent="  ")
                self._doing("answering")
            case Stuck(reason):
                self._printer.line(("stuck: ", "yellow"), clean(reason), indent="  ", hang="    ")
                self._doing("answering")

    def _header(self, step: AnalysisStep) -> None:
        """The hop and its question, unless the rephrasing just above shows it already."""
        self._hop = step.hop
        question = "" if step.question == self._rephrased else f"  {clean(step.question)}"
        self._printer.line((f"hop {step.hop}", "bold cyan"), (question, "bold"), hang="       ")

    def _which(self, need: Need) -> str:
        """The number of the need where a hop looks for several at once."""
        return f" {self._needs.index(need) + 1}" if len(self._needs) > 1 and need in self._needs else ""

    def _shortlist(self, step: ShortlistStep) -> None:
        if step.hop > self._hop:  # no analysis led here: a plan, a single search, a gap that a check has named
            self._hop, self._needs = step.hop, (step.need,)
            self._printer.line(
                (f"hop {step.hop}", "bold cyan"), (f"  {clean(step.need.question)}", "bold"), hang="       "
            )
        titles = " · ".join(clean(document.title) for document in step.documents) or "nothing"
        label = f"{'wider' if step.wider else 'shortlist'}{self._which(step.need)}"
        self._printer.line((label, "dim"), "  ", (titles, "dim"), indent="  ", hang="    ")
        self._doing(f"reading {counted(len(step.documents), 'document')}")

    def _reading(self, step: ReadingStep) -> None:
        if step.again:
            self._note("read again", step.need.question)
        trusted = [fact for fact in step.facts if not fact.is_doubtful]
        label = f"{'fact' if trusted else 'doubtful'}{self._which(step.need)}"
        lines = list(dict.fromkeys(tuple(_fact(label, fact)) for fact in trusted or step.facts))
        for line in lines[:_FACTS_SHOWN]:
            self._printer.line(*line, indent="  ", hang="    ")
        more = [f"{len(lines) - _FACTS_SHOWN} more"] if len(lines) > _FACTS_SHOWN else []
        if trusted and len(trusted) < len(step.facts):
            more.append(f"{len(step.facts) - len(trusted)} doubtful")
        if more:
            self._printer.line((f"{label}  and {', '.join(more)}", "dim"), indent="  ")
        if not step.facts:
            self._printer.line((f"no fact{self._which(step.need)}", "yellow"), _read(step), indent="  ", hang="    ")
        for fault in step.faults:
            self._printer.line(("not read", "yellow"), f"  {clean(fault.title)}: {clean(fault.message)}", indent="  ")
        self._doing("rephrasing the question")

    def _rephrasing(self, step: RephrasingStep) -> None:
        if step.after != step.before:
            self._rephrased = step.after
            self._printer.line(("→ ", "cyan"), (clean(step.after), "bold"), indent="  ", hang="    ")
        self._doing("analysing the question")

    def _answering(self, step: AnsweringStep) -> None:
        if step.last_attempt and not step.draft.answered:
            self._printer.line(("last attempt: nothing more is looked up", "dim"), indent="  ")
        self._doing("checking the answer")


def _fact(label: str, fact: Fact) -> list[Piece]:
    said = clean(plain(fact.value or fact.statement))
    quote = clean(plain(fact.quote))
    if len(quote) > _QUOTE_SHOWN:
        quote = quote[: _QUOTE_SHOWN - 1] + "…"
    style = "yellow" if fact.is_doubtful else "green"
    return [(label, "dim"), "  ", (said, style), f"  “{quote}”", (f"  {clean(fact.title)}", "dim")]


def _read(step: ReadingStep) -> str:
    """What became of the windows of a need: "2 windows read, 1 could not be read"."""
    asked = step.read + step.unanswered + len(step.faults)
    if step.unanswered == asked > 0:
        return f"  {counted(asked, 'window')} asked, none replied in time"
    parts = [f"{counted(step.read, 'window')} read"]
    if step.faults:
        parts.append(f"{len(step.faults)} could not be read")
    if step.unanswered:
        parts.append(f"{step.unanswered} asked without a reply in time")
    if step.dropped:
        parts.append(f"{counted(step.dropped, 'quote')} not in the text and dropped")
    return f"  {', '.join(parts)}"


def show_answer(answer: Answer, printer: Printer, also: Sequence[str] = ()) -> None:
    """The short answer, the sentence, the numbered citations, what to try and one line of cost; `also` are options of
    the command line that are no settings."""
    from iterative_rag.cli.ending_view import show_nearest, show_tries

    head = headline(answer)
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
        show_blocks(answer.text, printer)
    elif answer.text or answer.short_answer:
        _show_text(answer, printer, head)
    for link in chain_lines(answer):
        printer.line(clean(link), indent="  ", hang="    ")
    if answer.last_attempt:
        printer.line(("Last attempt", "bold yellow"), ": nothing more was found; this is what the facts make likely")
    for taken in taken_lines(answer):
        printer.line(clean(taken))
    for other in answer.also:
        printer.line(("also", "dim"), f"  {clean(plain(other))}", hang="    ")
    for caveat in answer.caveats:
        printer.line(("caveat", "yellow"), f"  {clean(plain(caveat))}", hang="    ")
    for conflict in told_apart(answer):
        sides = "; ".join(f"{side.value} {marks(side.facts)}" for side in conflict.sides)
        printer.line(("Sources differ", "bold yellow"), f" ({clean(conflict.need)}): {clean(sides)}")
    if answer.status in (Status.ANSWERED, Status.EXTRACT) and answer.unread:
        _show_unread(answer.unread, printer)
    if answer.corpus_notice:
        printer.line(("Note: ", "bold yellow"), clean(answer.corpus_notice))
    if answer.citations:
        printer.blank()
    for citation in answer.citations:
        show_citation(citation, printer)
    for passage in show_nearest(answer, printer):
        show_citation(passage, printer)
    show_tries(answer, printer, also)
    printer.blank()
    printer.line((cost(answer), "dim"))


def _show_text(answer: Answer, printer: Printer, head: Piece) -> None:
    """The answer with its value made bold; the value in a line of its own where the text does not hold it. The first
    line begins with `head`."""
    if short := apart(answer):
        printer.line(head, (short, "bold green"))
        head = ""
    for line in said_lines(answer):
        before, value, after = around_value(line, answer)
        printer.line(head, before, (value, "bold green"), after)
        head = ""


def _show_unread(unread: tuple[UnreadDocument, ...], printer: Printer) -> None:
    """What an answer does without. Where it is incomplete, its reason names them."""
    for document in unread:
        printer.line(
            ("Not read", "yellow"), f": {clean(document.title)} (for: {clean(document.need)}): {clean(document.reason)}"
        )


def show_citation(citation: Citation, printer: Printer) -> None:
    number = f"[{citation.n}] "
    where = f"page {citation.page}" if citation.page else f"characters {citation.start}–{citation.end}"
    read_on = f", read on {citation.retrieved}" if citation.retrieved else ""
    corpus = f"{citation.corpus}: " if citation.corpus else ""
    place = f"{corpus}{shown_source(citation.source)}, {where}{read_on}"
    hang = " " * len(number)
    link = f" link {citation.link}" if citation.link else ""
    printer.line((number, "cyan"), (clean(citation.title), f"bold{link}"), (f"  {clean(place)}", "dim"), hang=hang)
    printer.line(f"“{clean(quote_of(citation))}”", indent=hang)
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


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
