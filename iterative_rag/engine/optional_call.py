"""Calls that an answer can do without: where one fails, the run goes on and a step says so."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from iterative_rag.errors import LLMError
from iterative_rag.types import DegradedStep, Step

T = TypeVar("T")
# A call that failed in all its attempts is made once more.
CALLS = 2


def optional(hop: int, role: str, call: Callable[[], T]) -> Generator[Step, None, T | None]:
    """What `call` returns; None, and a DegradedStep, where it failed in CALLS calls.

    Raises CapReached, and an LLMError that any other call would raise as well (no server, no such model).
    """
    for n in range(1, CALLS + 1):
        try:
            return call()
        except LLMError as error:
            if error.fatal:
                raise
            if n == CALLS:
                yield DegradedStep(hop, role, type(error).__name__, str(error))
    return None
