"""Computes expressions that a model wrote: arithmetic, units, dates, lists and tables; exact and bounded.

Nothing of an expression is ever run: `parsing.py` reads it, and what is too long, too deep or too large is refused.
"""

from __future__ import annotations

from iterative_rag.computing.errors import ComputeError
from iterative_rag.computing.expression_parser import Parser
from iterative_rag.computing.operands import Value, said


def evaluate(expression: str) -> Value:
    """What an expression comes to, as a typed value. Raises ComputeError, whose message helps to mend it."""
    return Parser(expression).value()


def compute(expression: str) -> str:
    """What an expression comes to, as text: "87", "3.75", "86 or 87", "1 March 1912". Raises ComputeError."""
    return said(evaluate(expression))


__all__ = ["ComputeError", "Value", "compute", "evaluate"]
