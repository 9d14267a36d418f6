"""The error of an expression that cannot be computed."""

from __future__ import annotations

from iterative_rag.errors import UsageError


class ComputeError(UsageError):
    """An expression is malformed or too large. The message tells its author what to write; it never ends a run."""
