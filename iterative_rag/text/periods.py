"""How long a text says that something lasted: "from 1908 to June 1912", "until 3 May 1912"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from iterative_rag.text.dates import Date
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.languages import language_of
from iterative_rag.text.mentions import mentions
from iterative_rag.text.values import Mention, Moment, Span

_REACH = 60
_ALWAYS, _NEVER = Date(9999, 12, 31), Date(-9999, 1, 1)


@dataclass(frozen=True, slots=True)
class Term:
    """From one date to another, each at the precision given."""

    first: Date
    last: Date

    def is_before(self, other: Term) -> bool:
        """Whether it ends when the other begins or earlier, at the precision of the coarser date."""
        known = min(self.last.precision, other.first.precision)
        return self.last.cut(known) <= other.first.cut(known)

    def touches(self, date: Date) -> bool:
        """Whether a date, at least in part, lies within the term."""
        return self.first.earliest() <= date.latest() and date.earliest() <= self.last.latest()


def term(text: str, code: str) -> Term | None:
    """The only term in a text; None if there is none or more than one."""
    plain = folded_in_place(text)
    terms = {period for mention in mentions(text, code) if (period := _term(mention, plain, code))}
    begun = [period for period in terms if period.last == _ALWAYS]
    ended = [period for period in terms if period.first == _NEVER]
    if len(terms) == 2 and begun and ended:
        return Term(begun[0].first, ended[0].last)
    return terms.pop() if len(terms) == 1 else None


def _term(mention: Mention, plain: str, code: str) -> Term | None:
    match mention.readings[0]:
        case Span(low=Moment(date=Date() as first), high=Moment(date=Date() as last)):
            return Term(first, last)
        case Moment(date=Date() as date):
            begins, ends = _patterns(code)
            before = plain[max(0, mention.start - _REACH) : mention.start]
            if ends.search(before):
                return Term(_NEVER, date)
            if begins.search(before):
                return Term(date, _ALWAYS)
    return None


@cache
def _patterns(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What introduces the first and the last day of a term; a few words may come in between."""
    known = language_of(code)
    begins, ends = "|".join(known.term_begins), "|".join(known.term_ends)
    return _before(begins), _before(ends)


def _before(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words or '(?!)'})\s+(?:[^\W\d]+\s+){{0,5}}$")
