"""Evaluate expressions that a model wrote: exact arithmetic with units, dates and lists, within limits.

Nothing of an expression is ever run: `expression.py` reads it, and what is too long, too deep or too large
is refused.
"""

from __future__ import annotations

from iterative_rag.computing.expression import evaluate
from iterative_rag.computing.operands import Value, said
from iterative_rag.errors import ComputeError


def compute(expression: str) -> str:
    """The value of an expression as text: "87", "3.75", "86 or 87", "1 March 1912". Raises ComputeError."""
    return said(evaluate(expression))


__all__ = ["ComputeError", "Value", "compute", "evaluate"]
