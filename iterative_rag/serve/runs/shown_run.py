"""A run as every door shows it, whether it goes on in this server or only its trace tells of it; alone and in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from iterative_rag.errors import FollowUpUnclear, UsageError
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.events import (
    Failed,
    Happening,
    PastError,
    Queued,
    RunEvent,
    Stopped,
    error_to_json,
    number_after,
    public_answer,
)
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.serve.runs.run import Run
from iterative_rag.storage.past_runs import PastRun, answer_of, events_of, past_runs, run_of_id, step_of
from iterative_rag.types import Answer, FollowUpStep, RunProgress, Status, Step

if TYPE_CHECKING:
    from iterative_rag.serve.services import Services


@dataclass(frozen=True, slots=True)
class ShownRun:
    """`state` is queued, running, done, failed, stopped or unfinished; `status` is how it was answered. `standing` is
    how far its ending can be trusted: the word of confidence, or else the status. `error` is what clients are told of
    the one that ended it. `place` is that in the queue. `revises` is the run that this one is another version of, and
    `change` what was changed in it; both "" for a question asked anew. `follows` is the run that a follow-up goes on
    from, as long as the server knows it. What the answer says of its ending names no path and no server.

    In lists there are no steps, and no answer but `short_answer` and `reason`.
    """

    id: str
    question: str
    corpus: str
    backend: str
    strategy: str
    state: str
    at: datetime | None = None
    status: str = ""
    short_answer: str = ""
    reason: str = ""
    standing: str = ""
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    error: Mapping[str, Any] = field(default_factory=dict)
    place: int = 0
    progress: RunProgress | None = None
    last_event: int = 0
    revises: str = ""
    change: str = ""
    follows: str = ""

    @property
    def live(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def understood(self) -> str:
        """The question that a follow-up stands for, "" where it stands alone or is not understood yet."""
        meant = (step.question for step in self.steps if isinstance(step, FollowUpStep) and step.question != step.asked)
        return next(meant, "")

    @property
    def answered(self) -> Answer:
        """Raises NotFound."""
        if self.answer is None:
            raise NotFound("This run has no answer.")
        return self.answer

    def as_json(self, *, whole: bool = False) -> dict[str, Any]:
        """For the HTTP door; `whole`: with its answer and its error."""
        names = ("id", "state", "question", "corpus", "backend", "strategy", "short_answer", "status")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
        told |= {"created": self.at.timestamp() if self.at else 0.0, "events": f"/api/runs/{self.id}/events"}
        if self.last_event:
            told["last_event"] = self.last_event
        if whole:
            told["answer"] = public_answer(self.answer) if self.answer else None
            told["error"] = self.error or None
        return told


def shown_run(services: Services, run_id: str) -> ShownRun:
    """Raises NotFound."""
    if run := services.runs.get(run_id):
        run.touch()
        return replace(shown_live(run), **_revised(_first_event(run.id)))
    return _shown_past(past_run(services, run_id))


def past_run(services: Services, run_id: str) -> PastRun:
    """Raises NotFound for a run that has no trace, and for one over corpora that are not served."""
    try:
        past = run_of_id(run_id)
    except UsageError as error:
        raise NotFound("There is no such run.") from error
    # The command line also takes the beginning of an id.
    if past.run_id != run_id or not services.pool.serves(past):
        raise NotFound("There is no such run.")
    return past


def shown_live(run: Run) -> ShownRun:
    happened = [event.happening for event in run.events()]
    places = [told.place for told in happened if isinstance(told, Queued)]
    progress = [told for told in happened if isinstance(told, RunProgress)]
    request, error, answer = run.request, run.error, run.answer
    told = error_to_json(error) if error else {}
    if isinstance(error, FollowUpUnclear):  # asked again on the page; the hint tells how on the command line
        told["hint"] = ""
    return ShownRun(
        run.id,
        request.question,
        request.corpus,
        request.backend,
        request.strategy,
        str(run.state),
        datetime.fromtimestamp(run.created).astimezone(),
        str(answer.status) if answer else "",
        answer.short_answer if answer else "",
        steps=tuple(step for step in happened if isinstance(step, get_args(Step))),
        answer=public_ending(answer) if answer else None,
        error=told,
        place=places[-1] if places else 0,
        progress=progress[-1] if progress else None,
        last_event=run.last_number,
        follows=request.follows,
    )


def _shown_past(run: PastRun) -> ShownRun:
    shown = listed(run)
    steps = tuple(step for event in events_of(run) if (step := step_of(event)) is not None)
    answer = public_ending(answer_of(run)) if run.last.get("event") == "final" and run.answer else None
    error = error_to_json(_error_of(run)) if shown.state == "failed" else {}
    return replace(shown, steps=steps, answer=answer, error=error, **_revised(run.first))


def listed(run: PastRun) -> ShownRun:
    """A run of the past, as lists show it."""
    state = {"failed": "failed", "stopped": "stopped", "unfinished": "unfinished", "damaged": "unfinished"}
    return ShownRun(
        run.run_id,
        run.question,
        run.corpus,
        run.backend.split("?")[0].split("@")[0],
        str(run.first.get("strategy", "")),
        state.get(run.status, "done"),
        run.at,
        run.status,
        run.short_answer,
        run.reason,
        standing=(run.told("confidence_word") if run.status == Status.ANSWERED else "") or run.status,
    )


def kept_events(run: PastRun) -> list[RunEvent]:
    """The steps of a run of the past, and its end, with the numbers that they had while it went on."""
    told: list[Happening] = [step for event in events_of(run) if (step := step_of(event)) is not None]
    if run.status == "failed":
        told.append(Failed(_error_of(run)))
    elif run.status == "stopped":
        told.append(Stopped())
    at, number, kept = run.at.timestamp() if run.at else 0.0, 0, []
    for happening in told:
        number = number_after(number, happening)
        kept.append(RunEvent(number, happening, at))
    return kept


def _error_of(run: PastRun) -> PastError:
    return PastError(str(run.last.get("error", "")), run.reason)


def _first_event(run_id: str) -> Mapping[str, Any]:
    try:
        return run_of_id(run_id).first
    except UsageError:  # it waits in the queue
        return {}


def _revised(first: Mapping[str, Any]) -> dict[str, Any]:
    """The run that another is a version of, and what was changed, from its first event."""
    told = first.get("revises")
    if not isinstance(told, Mapping):
        return {}
    return {"revises": str(told.get("run_id", "")), "change": str(told.get("change", ""))}


def runs_of_the_past(pool: RagPool, words: str = "") -> Iterator[ShownRun]:
    """Those over corpora that are served here alone, whose question or answer holds all the words, the newest first.
    Raises CorpusError."""
    return (listed(run) for run in past_runs(words) if pool.serves(run))
