"""The steps of a run for human eyes: as they happen, or replayed from a trace."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

from iterative_rag.cli.answer_view import show_answer
from iterative_rag.cli.console import Piece, Printer, clean
from iterative_rag.cli.live import RunStatus
from iterative_rag.serve.step_notes import Note, shortened, step_notes, unread_notes
from iterative_rag.storage.past_runs import Event, is_step, step_of
from iterative_rag.text.markup import plain
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    AnalysisStep,
    AnsweringStep,
    AnswerText,
    Fact,
    FinalStep,
    FollowUpStep,
    Known,
    Need,
    Needs,
    PlanningStep,
    ReadingStep,
    RephrasingStep,
    RunProgress,
    ShortlistStep,
    Step,
    Stuck,
    ToolStep,
)
from iterative_rag.types.written_answer import AnswerDelta, TextWithdrawn, WrittenAnswer

# While the run goes on; the answer shows whole quotes, the trace all facts.
_QUOTE_SHOWN = 240  # characters
_DRAFT_SHOWN = 160  # characters of an answer that was taken back
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
                if step.after != step.before:
                    self._rephrased = step.after
                    self._printer.line(("→ ", "cyan"), (clean(step.after), "bold"), indent="  ", hang="    ")
                self._doing("analysing the question")
            case AnsweringStep():
                if step.last_attempt and not step.draft.answered:
                    self._printer.line(("last attempt: nothing more is looked up", "dim"), indent="  ")
                self._doing("checking the answer")
            case FollowUpStep():
                if step.question != step.asked:
                    self._printer.line(("Understood as: ", "cyan"), (clean(step.question), "bold"), hang="  ")
                self._rephrased = step.question
            case FinalStep():
                self._printer.blank()
            case _:
                if isinstance(step, ToolStep):
                    self._begin_hop(step.hop)
                self._notes(step_notes(step))
                if isinstance(step, PlanningStep):
                    self._doing("carrying out the plan")

    def _show_draft(self, told: AnswerDelta | TextWithdrawn) -> None:
        """The text below the hops while it is written; what is taken back stays to be seen, with the reason."""
        before = self._draft
        self._draft = f"{before[: told.start]}{told.text}" if isinstance(told, AnswerDelta) else ""
        if self._status:
            self._status.answer(self._draft)
        if isinstance(told, TextWithdrawn):
            said = (f"“{shortened(clean(before), _DRAFT_SHOWN)}”", "dim strike")
            self._printer.line(("taken back", "yellow"), "  ", said, f"  {told.reason}", indent="  ", hang="    ")

    def _notes(self, notes: Iterable[Note]) -> None:
        for note in notes:
            label = f"{note.label}{self._which(note.need)}"
            said = f"  {clean(note.text)}"
            shown: list[Piece] = [(label, "yellow"), said] if note.doubtful else [(f"{label}{said}", "dim")]
            self._printer.line(*shown, indent="  ", hang="    ")

    def _doing(self, what: str) -> None:
        if self._status:
            self._status.doing(what)

    def _begin_hop(self, hop: int, question: str = "") -> bool:
        """Print the head of a hop, unless that was done; whether it was printed."""
        if hop <= self._hop:
            return False
        self._hop = hop
        said = f"  {clean(question)}" if question else ""
        self._printer.line((f"hop {hop}", "bold cyan"), (said, "bold"), hang="       ")
        return True

    def _analysis(self, step: AnalysisStep) -> None:
        if step.known:
            self._printer.line((f"{counted(len(step.known), 'fact')} found for earlier questions", "dim"))
        match step.analysis:
            case Needs(needs):
                self._needs, self._hop = needs, step.hop - 1
                # The rephrasing just above may show the question already.
                self._begin_hop(step.hop, "" if step.question == self._rephrased else step.question)
                for number, need in enumerate(needs, 1):
                    label = f"need {number}" if len(needs) > 1 else "need"
                    self._printer.line((label, "dim"), "  ", clean(need.question), indent="  ", hang="        ")
                self._doing("shortlisting documents")
            case Known():
                self._printer.line(("known: the facts so far may answer the question", "dim"), indent="  ")
                self._doing("answering")
            case Stuck(reason):
                self._printer.line(("stuck: ", "yellow"), clean(reason), indent="  ", hang="    ")
                self._doing("answering")

    def _which(self, need: Need | None) -> str:
        """The number of the need where a hop looks for several at once."""
        return f" {self._needs.index(need) + 1}" if need and len(self._needs) > 1 and need in self._needs else ""

    def _shortlist(self, step: ShortlistStep) -> None:
        # Where no analysis led here: a plan, a single search, a gap that a check has named.
        if self._begin_hop(step.hop, step.need.question):
            self._needs = (step.need,)
        titles = " · ".join(document.title for document in step.documents) or "nothing"
        self._notes([Note("wider" if step.wider else "shortlist", titles, need=step.need)])
        self._doing(f"reading {counted(len(step.documents), 'document')}")

    def _reading(self, step: ReadingStep) -> None:
        which = self._which(step.need)
        trusted = [fact for fact in step.facts if not fact.is_doubtful]
        label = f"{'fact' if trusted else 'doubtful'}{which}"
        lines = list(dict.fromkeys(tuple(_fact(label, fact)) for fact in trusted or step.facts))
        for line in lines[:_FACTS_SHOWN]:
            self._printer.line(*line, indent="  ", hang="    ")
        more = [f"{len(lines) - _FACTS_SHOWN} more"] if len(lines) > _FACTS_SHOWN else []
        if trusted and len(trusted) < len(step.facts):
            more.append(f"{len(step.facts) - len(trusted)} doubtful")
        if more:
            self._printer.line((f"{label}  and {', '.join(more)}", "dim"), indent="  ")
        if not step.facts:
            self._printer.line((f"no fact{which}", "yellow"), f"  {_read(step)}", indent="  ", hang="    ")
        self._notes(unread_notes(step.faults))
        self._doing("rephrasing the question")


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
        return f"{counted(asked, 'window')} asked, none replied in time"
    parts = [f"{counted(step.read, 'window')} read"]
    if step.faults:
        parts.append(f"{len(step.faults)} could not be read")
    if step.unanswered:
        parts.append(f"{step.unanswered} asked without a reply in time")
    if step.dropped:
        parts.append(f"{counted(step.dropped, 'quote')} not in the text and dropped")
    return ", ".join(parts)


# --- a trace ---------------------------------------------------------------------------------


def replay(events: Iterable[Event], printer: Printer, *, calls: bool = False) -> None:
    """Print a run hop by hop; `calls` adds every prompt and reply."""
    hops = HopPrinter(printer)
    for event in _counted(events):
        match event.get("event"):
            case "run_started":
                heading = f"run {event.get('run_id', '?')}, {event.get('at', '?')}, {event.get('backend', '?')}"
                printer.line((heading, "dim"))
                printer.line((clean(str(event.get("question", ""))), "bold"))
                printer.blank()
            case "llm_call":
                _show_call(event, printer, whole=calls)
            case "cache_hit":
                printer.line((f"cache  {event['times']} × {event.get('what', '')}", "dim"), indent="  ")
            case "fault":
                printer.line((f"{event.get('error', 'fault')}: ", "bold red"), clean(str(event.get("message", ""))))
                if event.get("hint"):
                    printer.line(("Hint: ", "yellow"), clean(str(event["hint"])))
            case "unreadable":
                printer.line(("an event that was not written to its end", "yellow"))
            case _:
                step = step_of(event)
                if step is not None:
                    hops.show(step)
                elif is_step(event):
                    printer.line(("an event that cannot be read", "yellow"))
                if isinstance(step, FinalStep):
                    show_answer(step.answer, printer)


def _counted(events: Iterable[Event]) -> Iterator[Event]:
    """Cache hits of one kind that follow one another become one event with their number."""
    for (name, what), group in itertools.groupby(events, key=lambda event: (event.get("event"), event.get("what"))):
        if name == "cache_hit":
            yield {"event": name, "what": what, "times": len(list(group))}
        else:
            yield from group


def _show_call(event: Event, printer: Printer, *, whole: bool) -> None:
    parts = [str(event.get("role", "")), str(event.get("model", ""))]
    if event.get("prompt_tokens") is not None:
        parts.append(f"{event['prompt_tokens']} + {event.get('completion_tokens', 0)} tokens")
    if isinstance(event.get("seconds"), int | float):
        parts.append(f"{event['seconds']:.2f} s")
    printer.line((f"call  {clean(' · '.join(filter(None, parts)))}", "dim"), indent="  ")
    if event.get("error"):
        printer.line((clean(str(event["error"])), "red"), indent="    ")
    for name in ("system", "prompt", "reply") if whole else ():
        if event.get(name):
            printer.line((name, "cyan"), indent="    ")
            for line in str(event[name]).splitlines():
                printer.line(line, indent="      ")
