"""An analysis that was made with a follow-up, so that the first hop need not ask for it."""

from __future__ import annotations

from iterative_rag.protocols import Analyst
from iterative_rag.types import Analysis, Inquiry, Need, Needs


class SingleLookUp:
    """Implements protocols.Analyst: a question that one look-up answers is its own need; where that brought nothing, or
    not enough, `analyst` is asked as ever."""

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    def analyse(self, inquiry: Inquiry) -> Analysis:
        if inquiry.facts or inquiry.tried:
            return self._analyst.analyse(inquiry)
        return Needs((Need(inquiry.original),), last=True)
