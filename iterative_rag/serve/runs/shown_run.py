"""A run as every door shows it, whether it goes on in this server or only its trace tells of it; alone and in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from iterative_rag.errors import FollowUpUnclear, UsageError
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.events import (
    Failed,
    Happening,
    PastError,
    Queued,
    Stopped,
    error_to_json,
    public_answer,
    public_ending,
)
from iterative_rag.serve.runs.run import Run
from iterative_rag.storage.past_runs import PastRun, events_of, past_runs, run_of_id, step_of
from iterative_rag.types import Answer, FinalStep, FollowUpStep, RunProgress, Status, Step

if TYPE_CHECKING:
    from iterative_rag.serve.services import Services

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShownRun:
    """`state` is queued, running, done, failed, stopped or unfinished; `status` is how it was answered. `standing` is
    how far its ending can be trusted: the word of confidence, or else the status. `happened` is what it has told, and
    empty in lists. `revises` is the run that this one is another version of, and `change` what was changed in it; both
    "" for a question asked anew. `follows` is the run that a follow-up goes on from, as long as the server knows it."""

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
    happened: tuple[Happening, ...] = ()
    last_event: int = 0
    revises: str = ""
    change: str = ""
    follows: str = ""

    @property
    def live(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for step in self.happened if isinstance(step, get_args(Step)))

    @property
    def answer(self) -> Answer | None:
        """What it says of its ending names no path and no server."""
        last = self.last(FinalStep)
        return public_ending(last.answer) if last else None

    @property
    def error(self) -> Mapping[str, Any]:
        """What clients are told of the error that ended it."""
        if (last := self.last(Failed)) is None:
            return {}
        # Asked again on the page; the hint tells how on the command line.
        unclear = isinstance(last.error, FollowUpUnclear)
        return error_to_json(last.error) | ({"hint": ""} if unclear else {})

    @property
    def place(self) -> int:
        """In the queue."""
        queued = self.last(Queued)
        return queued.place if queued else 0

    @property
    def progress(self) -> RunProgress | None:
        return self.last(RunProgress)

    def last(self, kind: type[T]) -> T | None:
        """The newest of what it has told of this kind."""
        return next((told for told in reversed(self.happened) if isinstance(told, kind)), None)

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
    first: Mapping[str, Any]
    if run := services.runs.get(run_id):
        run.touch()
        shown, first = shown_live(run), {}
        with suppress(UsageError):  # it waits in the queue
            first = run_of_id(run_id).first
    else:
        past = past_run(services, run_id)
        shown, first = replace(listed(past), happened=tuple(_happened(past))), past.first
    revises = first.get("revises")
    if not isinstance(revises, Mapping):
        return shown
    return replace(shown, revises=str(revises.get("run_id", "")), change=str(revises.get("change", "")))


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
    request, answer = run.request, run.answer
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
        happened=tuple(event.happening for event in run.events()),
        last_event=run.last_number,
        follows=request.follows,
    )


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


def _happened(run: PastRun) -> Iterator[Happening]:
    yield from (step for event in events_of(run) if (step := step_of(event)) is not None)
    if run.status == "failed":
        yield Failed(PastError(str(run.last.get("error", "")), run.reason))
    elif run.status == "stopped":
        yield Stopped()


def runs_of_the_past(pool: RagPool, words: str = "") -> Iterator[ShownRun]:
    """Those over corpora that are served here alone, whose question or answer holds all the words, the newest first.
    Raises CorpusError."""
    return (listed(run) for run in past_runs(words) if pool.serves(run))
