"""What happens in a run, in words: notes of a label and a text each, for the terminal, the page and, in one line, for
clients that show it as text."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import plain
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Action,
    AnalysisStep,
    AnsweringStep,
    CorrectionStep,
    DegradedStep,
    Fact,
    FollowUpStep,
    GradingStep,
    Known,
    Need,
    Needs,
    PlanningStep,
    ReadingFault,
    ReadingStep,
    ReflectionStep,
    RephrasingStep,
    RunProgress,
    ShortlistStep,
    Step,
    Stuck,
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
# The answer holds whole quotes, the trace all facts and grades.
_SHOWN = 3
_QUOTE_SHOWN = 240  # characters
_ASKED_SHOWN, _TOLD_SHOWN = 48, 60  # of what a tool was asked, and of what it said: one line together


@dataclass(frozen=True, slots=True)
class Note:
    """`value` is what was found. `doubtful`: something is missing, or was refused. `need` is what it belongs to."""

    label: str
    text: str
    doubtful: bool = False
    need: Need | None = None
    value: str = ""


def step_notes(step: Step) -> list[Note]:
    match step:
        case FollowUpStep(asked=asked, question=question) if question != asked:
            return [Note("understood as", question)]
        case AnalysisStep():
            return _analysis_notes(step)
        case ShortlistStep():
            titles = " · ".join(document.title for document in step.documents) or "nothing"
            return [Note("wider" if step.wider else "shortlist", titles, need=step.need)]
        case ReadingStep():
            return _reading_notes(step)
        case RephrasingStep(before=before, after=after) if after != before:
            return [Note("→", after)]
        case AnsweringStep(draft=draft) if not draft.answered:
            return [Note("not answered yet", draft.missing or "the facts do not suffice")]
        case PlanningStep(plan=plan):
            planned = [Note(f"plan {n}", part.question) for n, part in enumerate(plan.steps, 1)]
            return planned or [Note("plan", "nothing is left to look up")]
        case ReflectionStep(reflection=reflection):
            refused = [claim for claim in reflection.claims if not claim.grounded]
            notes = [Note("not proved", f"{claim.text}: {claim.reason}", True) for claim in refused]
            return [*notes, Note("reflected", _CONSEQUENCES[step.action])]
        case DegradedStep():  # what the server said stands in the log and in the trace of the call
            return [Note(f"without {step.role}", f"its call failed: {step.error}", True)]
        case ToolStep():
            return [Note(step.tool, f"{shortened(step.asked, _ASKED_SHOWN)} → {shortened(step.told, _TOLD_SHOWN)}")]
    return _correction_notes(step)


def _analysis_notes(step: AnalysisStep) -> list[Note]:
    notes = [Note("known", f"{counted(len(step.known), 'fact')} found for earlier questions")] if step.known else []
    match step.analysis:
        case Needs(needs):
            numbers = [f" {n}" if len(needs) > 1 else "" for n in range(1, len(needs) + 1)]
            notes += [Note(f"need{n}", need.question) for n, need in zip(numbers, needs, strict=True)]
        case Known():
            notes.append(Note("known", "the facts so far may answer the question"))
        case Stuck(reason):
            notes.append(Note("stuck", reason, True))
    return notes


def _reading_notes(step: ReadingStep) -> list[Note]:
    trusted = [fact for fact in step.facts if not fact.is_doubtful]
    facts = list(dict.fromkeys(_fact_note(fact, step.need) for fact in trusted or step.facts))
    notes = facts[:_SHOWN] or [Note("no fact", _read(step), True, step.need)]
    if len(facts) > _SHOWN:
        notes.append(Note("and", f"{len(facts) - _SHOWN} more"))
    return [*notes, *unread_notes(step.faults)]


def _fact_note(fact: Fact, need: Need) -> Note:
    quote = shortened(plain(fact.quote), _QUOTE_SHOWN)
    label, value = "doubtful" if fact.is_doubtful else "fact", plain(fact.value or fact.statement)
    return Note(label, f"“{quote}”  {fact.title}", fact.is_doubtful, need, value)


def _read(step: ReadingStep) -> str:
    """What became of the windows of a need: "2 windows read, 1 could not be read"."""
    parts = [f"{counted(step.read, 'window')} read"]
    parts += [f"{len(step.faults)} could not be read"] if step.faults else []
    parts += [f"{step.unanswered} asked without a reply in time"] if step.unanswered else []
    parts += [f"{counted(step.dropped, 'quote')} not in the text and dropped"] if step.dropped else []
    return ", ".join(parts)


def _correction_notes(step: Step) -> list[Note]:
    """Of the steps of the strategies that correct what was found; () for all other steps."""
    match step:
        case GradingStep(need=need):
            graded = sorted(zip(step.grades, step.titles, strict=True), key=lambda item: -item[0].score)[:_SHOWN]
            shown = " · ".join(f"{title} {grade.label.value} {grade.score:.2f}" for grade, title in graded)
            return [Note("graded", f"{step.verdict.value}: {shown}", need=need)]
        case CorrectionStep(need=need, rewording=rewording):
            words = " · ".join(rewording.phrasings) or rewording.broader or "no other words"
            titles = " · ".join(entry.title for entry in step.documents) or "nothing new"
            return [Note("reworded", words, need=need), Note("found so", titles, need=need)]
        case WebStep(need=need, query=query):
            listed = " · ".join(entry.source for entry in step.documents) or "no page that serves"
            searched = Note(f"web ({step.engine})", f"{query}: {listed}" if query else listed, need=need)
            return [searched, *unread_notes(step.skipped)]
    return []


def unread_notes(faults: tuple[ReadingFault, ...]) -> list[Note]:
    return [Note("not read", f"{fault.title}: {fault.message}", True) for fault in faults]


def step_words(step: Step) -> str:
    """One line without control characters, "" for what a user need not be told."""
    notes = [f"{note.label}: {' '.join(filter(None, (note.value, note.text)))}" for note in step_notes(step)]
    hop: int = getattr(step, "hop", 0)
    return one_line((f"Hop {hop}: " if hop and notes else "") + "; ".join(notes))


def progress_words(at: RunProgress) -> str:
    """How far a run has come: "reading Harriet Lane (2 of 5), 3 calls, 400 tokens so far"."""
    reading = [f"reading {document.title} ({document.number} of {document.of})" for document in at.reading[:1]]
    spent = [counted(at.calls, "call"), f"{at.tokens:,} tokens so far"] if at.calls else []
    return one_line(", ".join([*reading, *spent]))


def shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
