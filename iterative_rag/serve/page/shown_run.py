"""A run for the page, whether it goes on in this server or only its trace tells of it, and what an edit or a follow-up
takes over from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from iterative_rag.errors import FollowUpUnclear, UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.runs.events import Queued, error_to_json
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_index import past_error, past_state
from iterative_rag.serve.runs.run_request import CHOICES, LIMITS
from iterative_rag.serve.services import Services
from iterative_rag.settings import Settings
from iterative_rag.storage.past_runs import PastRun, answer_of, events_of, run_of_id, step_of
from iterative_rag.types import Answer, FollowUpStep, RunProgress, Step


@dataclass(frozen=True, slots=True)
class ShownRun:
    """`state` is queued, running, done, failed, stopped or unfinished. `place` is that in the queue. `revises` is the
    run that this one is another version of, and `change` what was changed in it; both "" for a question asked anew.
    `follows` is the run that a follow-up goes on from, as long as the server knows it. What the answer says of its
    ending names no path and no server."""

    id: str
    question: str
    corpus: str
    backend: str
    strategy: str
    state: str
    at: datetime | None = None
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    message: str = ""
    hint: str = ""
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


def shown_run(services: Services, run_id: str) -> ShownRun:
    """Raises NotFound."""
    if run := services.runs.get(run_id):
        run.touch()
        return _live(run)
    try:
        past = run_of_id(run_id)
    except UsageError as error:
        raise _no_such_run() from error
    # The command line also takes the beginning of an id.
    if past.run_id != run_id or not services.pool.serves(past):
        raise _no_such_run()
    return _past(past)


def request_like(shown: ShownRun, services: Services, question: str) -> dict[str, object]:
    """The body of a request that asks as the run was asked: its corpus, strategy, limits, languages and length, and its
    backend where that is still offered."""
    given: dict[str, object] = {"question": question, "corpus": shown.corpus}
    if shown.answer:
        given["limits"] = _limits(shown.answer, services.settings)
        # An answer of an earlier version has not all of them.
        given |= {name: shown.answer.settings[name] for name in CHOICES if name in shown.answer.settings}
    if shown.backend in services.pool.backends:
        given["backend"] = shown.backend
    if shown.strategy in STRATEGIES.offered:
        given["strategy"] = shown.strategy
    return given


def _limits(answer: Answer, served: Settings) -> dict[str, object]:
    """Those of the run, as far as this server allows them."""
    limits: dict[str, object] = {}
    for name in LIMITS:
        used, most = answer.settings.get(name), getattr(served, name)
        if isinstance(used, int | float) and 0 < used < most:
            limits[name] = type(most)(used)
    return limits


def _live(run: Run) -> ShownRun:
    events = run.events()
    happened = [event.happening for event in events]
    places = [one.place for one in happened if isinstance(one, Queued)]
    progress = [one for one in happened if isinstance(one, RunProgress)]
    request, error = run.request, run.error
    told = error_to_json(error) if error else {}
    revises, change = revised_in(_first_event(run.id))
    return ShownRun(
        run.id,
        request.question,
        request.corpus,
        request.backend,
        request.strategy,
        str(run.state),
        datetime.fromtimestamp(run.created).astimezone(),
        tuple(one for one in happened if isinstance(one, get_args(Step))),
        public_ending(run.answer) if run.answer else None,
        told.get("message", ""),
        # A follow-up that is not understood is asked again on the page; its hint tells how on the command line.
        "" if isinstance(error, FollowUpUnclear) else told.get("hint", ""),
        places[-1] if places else 0,
        progress[-1] if progress else None,
        run.last_number,
        revises,
        change,
        request.follows,
    )


def _past(run: PastRun) -> ShownRun:
    steps = tuple(step for event in events_of(run) if (step := step_of(event)) is not None)
    answer = public_ending(answer_of(run)) if run.last.get("event") == "final" and run.answer else None
    state = past_state(run.status)
    error = error_to_json(past_error(run)) if state == "failed" else {}
    revises, change = revised_in(run.first)
    return ShownRun(
        run.run_id,
        run.question,
        run.corpus,
        run.backend.split("?")[0].split("@")[0],
        str(run.first.get("strategy", "")),
        state,
        run.at,
        steps,
        answer,
        error.get("message", ""),
        error.get("hint", ""),
        revises=revises,
        change=change,
    )


def _first_event(run_id: str) -> Mapping[str, Any]:
    try:
        return run_of_id(run_id).first
    except UsageError:  # it waits in the queue
        return {}


def revised_in(first: Mapping[str, Any]) -> tuple[str, str]:
    """The run that another is a version of, and what was changed, from its first event."""
    told = first.get("revises")
    if not isinstance(told, Mapping):
        return "", ""
    return str(told.get("run_id", "")), str(told.get("change", ""))


def _no_such_run() -> NotFound:
    return NotFound("There is no such run.", hint="The history lists all of them.")
