"""What happens in a run, in one line each, for clients that show them as text."""

from __future__ import annotations

from iterative_rag.serve.runs.events import Happening, Queued
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    AnalysisStep,
    AnsweringStep,
    CorrectionStep,
    DegradedStep,
    FollowUpStep,
    Needs,
    PlanningStep,
    ReadingStep,
    ReflectionStep,
    RephrasingStep,
    RunProgress,
    ShortlistStep,
    ToolStep,
    WebStep,
)

# Titles and values of one line; the rest are counted.
_SHOWN = 5


def step_words(happening: Happening) -> str:
    """One line without control characters; "" for what a user need not be told."""
    return one_line(_words(happening))


def _words(happening: Happening) -> str:
    match happening:
        case Queued(place):
            return f"Waiting: place {place} in line"
        case FollowUpStep(asked=asked, question=question) if question != asked:
            return f"Understood as: {question}"
        case AnalysisStep(hop=hop, analysis=Needs(needs=needs)):
            return f"Hop {hop}: looking for {' · '.join(need.question for need in needs)}"
        case PlanningStep(plan=plan):
            return f"Planned {counted(len(plan.steps), 'step')}"
        case ShortlistStep(hop=hop, documents=documents):
            return f"Hop {hop}: listed {_some([document.title for document in documents]) or 'nothing'}"
        case ReadingStep(hop=hop, facts=facts, read=read):
            values = _some([f"{fact.value or fact.statement} ({fact.title})" for fact in facts])
            return f"Hop {hop}: read {counted(read, 'passage')}, found {values or 'nothing'}"
        case RephrasingStep(hop=hop, after=question):
            return f"Hop {hop}: the question is now: {question}"
        case CorrectionStep(hop=hop):
            return f"Hop {hop}: searching in other words"
        case WebStep(hop=hop):
            return f"Hop {hop}: searched the web"
        case ToolStep(hop=hop, asked=asked, told=told):
            return f"Hop {hop}: {asked}: {told}"
        case AnsweringStep():
            return "Writing the answer"
        case ReflectionStep():
            return "Checking the answer"
        case DegradedStep(hop=hop, role=role):  # its message says what a server said, which is not for clients
            return f"Hop {hop}: going on without the call to {role}, which failed"
        case RunProgress(reading=reading, calls=calls, tokens=tokens):
            at = [f"reading {document.title} ({document.number} of {document.of})" for document in reading[:1]]
            spent = [counted(calls, "call"), f"{tokens:,} tokens so far"] if calls else []
            return ", ".join([*at, *spent])
    return ""


def _some(texts: list[str]) -> str:
    shown = list(dict.fromkeys(texts))[:_SHOWN]
    more = len(set(texts)) - len(shown)
    return " · ".join(shown) + (f" and {more} more" if more > 0 else "")
