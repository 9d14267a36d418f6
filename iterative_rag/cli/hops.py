"""The steps of a run for human eyes: as they happen, or replayed from a trace."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext

from iterative_rag import types
from iterative_rag.cli.answer_view import show_answer
from iterative_rag.cli.console import Printer, clean
from iterative_rag.cli.live import RunStatus
from iterative_rag.serve.step_notes import Note, shortened, step_notes
from iterative_rag.storage.past_runs import Event, is_step, step_of
from iterative_rag.types.steps import AnswerDelta, TextWithdrawn, WrittenAnswer

_DRAFT_SHOWN = 160  # characters of an answer that was taken back


class HopPrinter:
    """Shows each step as it happens; `status` is the line below that says what is being done."""

    def __init__(self, printer: Printer, status: RunStatus | None = None) -> None:
        self._printer = printer
        self._status = status
        self._written = WrittenAnswer(self._show_draft)
        self._draft = ""
        self._hop = 0
        self._needs: tuple[types.Need, ...] = ()

    def __enter__(self) -> HopPrinter:
        if self._status:
            try:
                self._status.redraw()
            except BaseException:  # an interrupt: a chat goes on, with the cursor and its stderr as they were
                self._status.stop()
                raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._status:
            self._status.stop()

    def progress(self, at: types.RunProgress) -> None:
        """Called between the steps, from any thread."""
        if self._status:
            self._status.progress(at)

    @property
    def written(self) -> Callable[[str], None] | None:
        """To be told the answer while it is written; None where nobody watches."""
        return self._written.wrote if self._status else None

    def nearest(self, passages: Sequence[str]) -> None:
        """Passages to be shown below the hops until a document has given something."""
        if self._status:
            self._status.nearest = passages

    def show(self, step: types.Step) -> None:
        self._written.check(step)
        if isinstance(step, types.ReadingStep) and step.facts:
            self.nearest(())
        with self._printer.console if self._printer.terminal else nullcontext():  # the line below is redrawn once
            match step:
                case types.FinalStep():
                    self._printer.blank()
                case types.FollowUpStep():
                    if step.question != step.asked:
                        self._printer.line(("Understood as: ", "cyan"), (clean(step.question), "bold"), hang="  ")
                case _:
                    self._begin_hop(step)
                    for note in step_notes(step):
                        self._note(note)

    def _begin_hop(self, step: types.Step) -> None:
        """Print the head of a hop where it begins: with its question, or with the need that is looked for."""
        hop: int = getattr(step, "hop", 0)
        need: types.Need | None = getattr(step, "need", None)
        if isinstance(step, types.AnalysisStep) and isinstance(step.analysis, types.Needs):
            self._needs = step.analysis.needs
        elif not isinstance(step, types.ShortlistStep | types.ToolStep) or hop <= self._hop:
            return
        elif need:
            self._needs = (need,)
        self._hop = hop
        question = step.question if isinstance(step, types.AnalysisStep) else need.question if need else ""
        said = f"  {clean(question)}" if question else ""
        self._printer.line((f"hop {hop}", "bold cyan"), (said, "bold"), hang="       ")

    def _note(self, note: Note) -> None:
        """One line. A need has its number where a hop looks for several at once."""
        several = note.need and len(self._needs) > 1 and note.need in self._needs
        number = f" {self._needs.index(note.need) + 1}" if several and note.need else ""
        label = (f"{note.label}{number}", "yellow" if note.doubtful else "dim")
        value = ("  " + clean(note.value), "yellow" if note.doubtful else "green") if note.value else ""
        bright = note.value or note.doubtful or note.label.startswith(("need", "→"))
        text = ("  " + clean(note.text), "" if bright else "dim")
        self._printer.line(label, value, text, indent="  ", hang="    ")

    def _show_draft(self, told: AnswerDelta | TextWithdrawn) -> None:
        """The text below the hops while it is written; what is taken back stays to be seen, with the reason."""
        before = self._draft
        self._draft = f"{before[: told.start]}{told.text}" if isinstance(told, AnswerDelta) else ""
        if self._status:
            self._status.answer(self._draft)
        if isinstance(told, TextWithdrawn):
            self._note(Note("taken back", f"“{shortened(before, _DRAFT_SHOWN)}”  {told.reason}", doubtful=True))


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
                if (step := step_of(event)) is not None:
                    hops.show(step)
                elif is_step(event):
                    printer.line(("an event that cannot be read", "yellow"))
                if isinstance(step, types.FinalStep):
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
