"""Why an expression is not computed."""

from __future__ import annotations

from iterative_rag.errors import UsageError


class ComputeError(UsageError):
    """An expression that is wrong or too large. Its message is advice to whoever wrote it; it never ends a run."""
