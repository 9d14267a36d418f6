"""A run as it is told on the page: its hops, each with the notes of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from iterative_rag.serve.step_notes import Note, step_notes
from iterative_rag.types import AnalysisStep, ShortlistStep, Step


@dataclass(slots=True)
class HopStory:
    """One turn of the loop: the question that it began with, or else the need that it looked for."""

    n: int
    question: str = ""
    notes: list[Note] = field(default_factory=list)


def run_story(steps: Iterable[Step]) -> list[HopStory]:
    """The hops so far."""
    hops: dict[int, HopStory] = {}
    for step in steps:
        number: int = getattr(step, "hop", 0)
        if not number:
            continue
        hop = hops.setdefault(number, HopStory(number))
        if isinstance(step, AnalysisStep):
            hop.question = step.question
        elif isinstance(step, ShortlistStep):
            hop.question = hop.question or step.need.question
        hop.notes += step_notes(step)
    return [hops[number] for number in sorted(hops)]
