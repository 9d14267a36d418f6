"""What happens in a run besides search and reading, as a label and a text each, for the page and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Action,
    CorrectionStep,
    DegradedStep,
    GradingStep,
    LostRowsStep,
    Need,
    PlanningStep,
    ReadingFault,
    RefinementStep,
    ReflectionStep,
    Step,
    SufficiencyStep,
    ToolStep,
    WebStep,
)

_CONSEQUENCES = {
    Action.ACCEPT: "the answer stands",
    Action.REGENERATE: "written again",
    Action.SEARCH: "it does not answer what was asked: searched once more",
    Action.ABSTAIN: "no answer is better than this one",
    Action.LEAVE_OUT: "left out; the rest stands",
}
_GRADES_SHOWN = 3
_ASKED_SHOWN, _TOLD_SHOWN = 48, 60  # characters of what a tool was asked, and of what it said: one line together


@dataclass(frozen=True, slots=True)
class Note:
    """`doubtful`: something is missing, or was refused. `need` is what it belongs to."""

    label: str
    text: str
    doubtful: bool = False
    need: Need | None = None


def step_notes(step: Step) -> list[Note]:
    """() for the steps that tell of search, reading and answering."""
    match step:
        case PlanningStep(plan=plan):
            planned = [Note(f"plan {n}", part.question) for n, part in enumerate(plan.steps, 1)]
            return planned or [Note("plan", "nothing is left to look up")]
        case GradingStep(need=need):
            graded = sorted(zip(step.grades, step.titles, strict=True), key=lambda item: -item[0].score)[:_GRADES_SHOWN]
            shown = " · ".join(f"{title} {grade.label.value} {grade.score:.2f}" for grade, title in graded)
            return [Note("graded", f"{step.verdict.value}: {shown}", need=need)]
        case LostRowsStep():
            return [Note("rows missing", step.caveat, True)]
        case CorrectionStep(need=need, rewording=rewording):
            words = " · ".join(rewording.phrasings) or rewording.broader or "no other words"
            titles = " · ".join(entry.title for entry in step.documents) or "nothing new"
            return [Note("reworded", words, need=need), Note("found so", titles, need=need)]
        case WebStep(need=need, query=query):
            listed = " · ".join(entry.source for entry in step.documents) or "no page that serves"
            searched = Note(f"web ({step.engine})", f"{query}: {listed}" if query else listed, need=need)
            return [searched, *unread_notes(step.skipped)]
        case RefinementStep():
            return [Note("refined", f"{counted(step.kept, 'strip')} kept, {step.dropped} dropped", need=step.need)]
        case SufficiencyStep(sufficiency=judged):
            told = "the facts suffice" if judged.enough else f"missing: {judged.gap or judged.reason}"
            return [Note("checked", told)]
        case ReflectionStep(reflection=reflection):
            refused = [claim for claim in reflection.claims if not claim.grounded]
            notes = [Note("not proved", f"{claim.text}: {claim.reason}", True) for claim in refused]
            return [*notes, Note("reflected", _CONSEQUENCES[step.action])]
        case DegradedStep():
            return [Note(f"without {step.role}", f"{step.error}: {step.message}", True)]
        case ToolStep():
            return [Note(step.tool, f"{shortened(step.asked, _ASKED_SHOWN)} → {shortened(step.told, _TOLD_SHOWN)}")]
    return []


def unread_notes(faults: tuple[ReadingFault, ...]) -> list[Note]:
    return [Note("not read", f"{fault.title}: {fault.message}", True) for fault in faults]


def shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
