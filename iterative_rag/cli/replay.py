"""Shows a trace again: its events become the steps that they were, shown the same way as in the run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from iterative_rag.cli.console import Printer, clean
from iterative_rag.cli.render import HopPrinter, show_answer
from iterative_rag.storage.past_runs import Event, is_step, step_of
from iterative_rag.types import FinalStep


def replay(events: Iterable[Event], printer: Printer, *, calls: bool = False) -> None:
    """Print a run hop by hop; `calls` adds every prompt and reply."""
    hops = HopPrinter(printer)
    for event in _counted(events):
        match event.get("event"):
            case "run_started":
                place = f"run {event.get('run_id', '?')}, {event.get('at', '?')}, {event.get('backend', '?')}"
                printer.line((place, "dim"))
                printer.line((clean(str(event.get("question", ""))), "bold"))
                printer.blank()
            case "llm_call":
                _show_call(event, printer, whole=calls)
            case "cache_hit":
                printer.line(("cache  ", "dim"), (f"{event['times']} × {event.get('what', '')}", "dim"), indent="  ")
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
    printer.line(("call  ", "dim"), (clean(" · ".join(part for part in parts if part)), "dim"), indent="  ")
    if event.get("error"):
        printer.line((clean(str(event["error"])), "red"), indent="    ")
    if not whole:
        return
    for name in ("system", "prompt", "reply"):
        if event.get(name):
            printer.line((name, "cyan"), indent="    ")
            for line in str(event[name]).splitlines():
                printer.line(line, indent="      ")
