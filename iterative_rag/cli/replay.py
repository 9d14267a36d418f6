"""Shows a trace again: its events become the steps that they were, shown the same way as in the run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from iterative_rag.cli.console import Printer, clean
from iterative_rag.cli.render import HopPrinter, show_answer
from iterative_rag.types import (
    Analysis,
    AnalysisStep,
    Answer,
    AnsweringStep,
    Cap,
    Citation,
    Draft,
    Fact,
    FinalStep,
    Hit,
    HopRecord,
    Known,
    Need,
    Needs,
    ReadingFault,
    ReadingStep,
    RephrasingStep,
    ShortlistedDocument,
    ShortlistStep,
    Status,
    Step,
    Stuck,
    Usage,
)

Event = Mapping[str, Any]


def replay(events: Iterable[Event], printer: Printer, *, calls: bool = False) -> None:
    """Print a run hop by hop; `calls` adds every prompt and reply."""
    hops = HopPrinter(printer, replaying=True)
    for event in _counted(events):
        match event.get("event"):
            case "run_started":
                place = f"run {event.get('run_id', '?')}, {event.get('at', '?')}, {event.get('mind', '?')}"
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
    if event.get("seconds") is not None:
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


# --- events back to steps --------------------------------------------------------------------


def step_of(event: Event) -> Step | None:
    """The step that an event holds, or None for an event that is no step."""
    match event.get("event"):
        case "analysis":
            return AnalysisStep(event["hop"], event["question"], _analysis(event["analysis"]))
        case "shortlist":
            documents = tuple(_shortlisted(document) for document in event["documents"])
            return ShortlistStep(event["hop"], Need(**event["need"]), documents, event["wider"])
        case "reading":
            return _reading(event)
        case "rephrasing":
            return RephrasingStep(event["hop"], event["before"], event["after"])
        case "answering":
            return AnsweringStep(event["hop"], _draft(event["draft"]), event["last_attempt"])
        case "final":
            return FinalStep(_answer(event["answer"]))
    return None


def _analysis(value: Mapping[str, Any]) -> Analysis:
    """The three kinds of analysis have different fields."""
    if "needs" in value:
        return Needs(tuple(Need(**need) for need in value["needs"]))
    return Stuck(value["reason"]) if "reason" in value else Known()


def _shortlisted(value: Mapping[str, Any]) -> ShortlistedDocument:
    return ShortlistedDocument(**{**value, "hits": tuple(Hit(**hit) for hit in value["hits"])})


def _reading(event: Event) -> ReadingStep:
    return ReadingStep(
        event["hop"],
        Need(**event["need"]),
        _facts(event["facts"]),
        event["read"],
        event["cached"],
        event["skipped"],
        event["dropped"],
        tuple(ReadingFault(**fault) for fault in event["faults"]),
        tuple(event["documents"]),
    )


def _facts(values: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    return tuple(Fact(**{**value, "need": Need(**value["need"])}) for value in values)


def _draft(value: Mapping[str, Any]) -> Draft:
    return Draft(**{**value, "cited": tuple(value["cited"])})


def _answer(value: Mapping[str, Any]) -> Answer:
    hops = tuple(
        HopRecord(
            **{
                **hop,
                "needs": tuple(hop["needs"]),
                "shortlist": tuple(hop["shortlist"]),
                "facts": _facts(hop["facts"]),
            }
        )
        for hop in value["hops"]
    )
    return Answer(
        **{
            **value,
            "status": Status(value["status"]),
            "citations": tuple(Citation(**citation) for citation in value["citations"]),
            "hops": hops,
            "usage": Usage(**value["usage"]),
            "cap": Cap(value["cap"]) if value.get("cap") else None,
        }
    )
