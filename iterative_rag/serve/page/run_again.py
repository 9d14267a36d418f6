"""What an edit or a follow-up takes over from the run that it goes on from."""

from __future__ import annotations

from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.page.shown_run import ShownRun
from iterative_rag.serve.runs.run_request import CHOICES, LIMITS
from iterative_rag.serve.services import Services
from iterative_rag.settings import Settings
from iterative_rag.types import Answer


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
