"""A run as it is told on the page: its hops with their needs, documents and facts, folded from its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from iterative_rag.serve.step_notes import Note, step_notes, unread_notes
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    AnalysisStep,
    Fact,
    Need,
    Needs,
    ReadingStep,
    RephrasingStep,
    ShortlistedDocument,
    ShortlistStep,
    Step,
)


@dataclass(slots=True)
class NeedStory:
    """What was looked for, where, and what was found. `outcome` is said where nothing was."""

    question: str
    documents: list[ShortlistedDocument] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    outcome: str = ""
    read: bool = False

    @property
    def told(self) -> tuple[object, ...]:
        """What was looked for and found, to compare it with that of another run."""
        facts = tuple((fact.value, fact.quote, fact.title) for fact in self.facts)
        return self.question, tuple(document.title for document in self.documents), facts


@dataclass(slots=True)
class HopStory:
    """One turn of the loop; `notes` tell what happened besides search and reading."""

    n: int
    question: str = ""
    needs: list[NeedStory] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    rephrased: str = ""

    def need(self, need: Need) -> NeedStory:
        for known in self.needs:
            if known.question == need.question:
                return known
        self.needs.append(NeedStory(need.question))
        return self.needs[-1]


def run_story(steps: Iterable[Step]) -> list[HopStory]:
    """The hops so far."""
    hops: dict[int, HopStory] = {}
    for step in steps:
        number = getattr(step, "hop", 0)
        if number:
            _tell(step, hops.setdefault(number, HopStory(number)))
    return [hops[number] for number in sorted(hops)]


def _tell(step: Step, hop: HopStory) -> None:
    """Needs, their documents and their facts have places of their own; everything else is a note."""
    match step:
        case AnalysisStep(question=question, analysis=analysis):
            hop.question = question
            for looked_for in analysis.needs if isinstance(analysis, Needs) else ():
                hop.need(looked_for)
            hop.notes += [note for note in step_notes(step) if not note.label.startswith("need")]
        case ShortlistStep():
            need = hop.need(step.need)
            known = {document.document_id for document in need.documents}
            need.documents += [document for document in step.documents if document.document_id not in known]
            if step.wider:
                hop.notes.append(Note("searched wider", step.need.question))
        case ReadingStep():
            _tell_reading(step, hop)
        case RephrasingStep():
            hop.rephrased = step.after if step.after != step.before else hop.rephrased
        case _:
            hop.notes += step_notes(step)


def _tell_reading(step: ReadingStep, hop: HopStory) -> None:
    need = hop.need(step.need)
    need.read = True
    seen = {(fact.title, fact.quote) for fact in need.facts}
    need.facts += [fact for fact in step.facts if (fact.title, fact.quote) not in seen]
    need.facts.sort(key=lambda fact: fact.is_doubtful)
    windows = counted(step.read, "passage")
    need.outcome = "" if need.facts else f"Nothing found: {windows} read"
    if step.dropped:
        hop.notes.append(Note("refused", f"{counted(step.dropped, 'quote')} not found in the document"))
    hop.notes += unread_notes(step.faults)
