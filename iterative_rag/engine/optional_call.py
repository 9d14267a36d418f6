"""Calls of a model that an answer can do without: where one fails, the run goes on and a step says so."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from iterative_rag.errors import LLMError
from iterative_rag.types import DegradedStep, Step

T = TypeVar("T")
# A call that failed in all its attempts is made anew so often.
CHANCES = 2


def optional(hop: int, role: str, call: Callable[[], T]) -> Generator[Step, None, T | None]:
    """What `call` returns; None, and a DegradedStep, where the model's reply could not be had in CHANCES calls.

    Raises CapReached, and an LLMError that every other call would meet as well (no server, no such model).
    """
    for chance in range(1, CHANCES + 1):
        try:
            return call()
        except LLMError as fault:
            if fault.fatal:
                raise
            if chance == CHANCES:
                yield DegradedStep(hop, role, type(fault).__name__, str(fault))
    return None
