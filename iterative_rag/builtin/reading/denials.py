"""Whether a sentence says that a value, or a yes, is not so: it denies it, calls it a wrong belief, tells what was only
planned or alleged, or what has ended."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import lines
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.text.patterns import lazy_pattern

_PREDECESSOR = lazy_pattern(r"(?i)\bpredecessor of\b|^who(?:m)? did .+ (?:succeed|replace)\b")
_FOLLOWED = lazy_pattern(r"(?i)\b(?:(?:succeeded|replaced|followed)\b[^.;]{0,40} by|successor)\W+(?:\w+ ){0,3}$")
# What stands before a value that is not it: "the mayor is not Bo Orm", "in Tellby rather than in Orm".
_NOT = lazy_pattern(r"(?i)\b(?:not|never|rather than|instead of|other than|unlike)(?: (?:the|an?|by|in|at|to|from))* $")
_UNTRUE, _UNDONE, _CAME_ABOUT, _BEGUN, _FELL_THROUGH = (
    lazy_pattern(rf"(?i)\b(?:{'|'.join(lines(name))})")
    for name in ("untrue", "undone", "came_about", "begun", "fell_through")
)
# A semicolon before what is said of something else.
_ELSE = lazy_pattern(r";(?! (?:this|that|it|but|however)\b)")
_CLAUSES = lazy_pattern(r"[;:]|\b(?:and|but|who|which|before|after)\b")
# "Its mayor was Bo Lind until 2009" does not tell who is mayor.
_PRESENT = lazy_pattern(r"(?i)^(?:\w+ ){0,3}?(?:is|are|does|do)\b")
# "The third of five children" tells how many the parents had.
_CHILDREN = lazy_pattern(r"(?i)\bhow many (?:\w+ )?(?:children|sons|daughters|kids)\b")
_BORN_AS = lazy_pattern(r"(?i)\b(?:\w+(?:st|nd|rd|th)|one|youngest|middle)(?: born)? (?:child )?of (?:their |the )?$")
# "Bo Lind (1827–1901)": nobody is mayor in 1950 who was dead by then.
_LIFE = lazy_pattern(r"[^(]{0,20}\([^()]*?\b(\d{4})\s?[–-]\s?[^()]*?(\d{4})\)")
_FORMERLY = lazy_pattern(r"(?i)\b(?:used to|was (?:formerly|previously))\b")
_ENDED = lazy_pattern(r"(?i)\b(?:was|were|had|held|\w+ed)\b[^.;]{0,60}\b(?:until (?:\w+ )?|from \d{4} to )\d{4}")


def denies_value(query: Query, sentence: str, value: str) -> bool:
    """Whether a sentence that holds a value says that it is not what the query asks for."""
    at = sentence.find(value)
    before, after = (sentence[:at], sentence[at + len(value) :]) if at >= 0 else ("", sentence)
    clause = _CLAUSES.split(before)[-1]
    if _CHILDREN.search(query.text) and _BORN_AS.search(before):
        return True
    if _NOT.search(before) or (_PREDECESSOR.search(query.text) and _FOLLOWED.search(before)):
        return True
    life = _LIFE.match(after)
    if life and any(not int(life[1]) <= year <= int(life[2]) for year in query.years):
        return True
    ended = _PRESENT.match(query.text) and _ENDED.search(f"{clause}{value}{after}")
    if (ended and ended.end() > len(clause + value)) or (_PRESENT.match(query.text) and _FORMERLY.search(clause)):
        return True
    return is_untrue(query, before) or _is_undone(query, sentence, clause) or _fell_through(query, before, after)


def denies_yes(query: Query, sentence: str) -> bool:
    """Whether a sentence that has the words of a yes/no question does not bear a yes out."""
    ended = _PRESENT.match(query.text) and _ENDED.search(sentence)
    undone = _is_undone(query, sentence, _CLAUSES.split(sentence)[0])
    return bool(ended) or undone or _fell_through(query, "", sentence)


def is_untrue(query: Query, text: str) -> bool:
    """Whether a text says that what it tells is not so, and is not asked just that."""
    return _UNTRUE.search(text) is not None and not _UNTRUE.search(query.text)


def _is_undone(query: Query, sentence: str, clause: str) -> bool:
    asked = _UNDONE.search(query.text) or " would " in query.text
    return bool(_UNDONE.search(clause)) and not (asked or _CAME_ABOUT.search(sentence))


def _fell_through(query: Query, before: str, after: str) -> bool:
    """Whether a sentence, between the semicolons around the value, tells of something begun that came to nothing."""
    before, after = before.rpartition(";")[2], _ELSE.split(after)[0]
    end = _FELL_THROUGH.search(after)
    begun = end and _BEGUN.search(f"{before} {after[: end.start()]}")
    return bool(begun) and not _FELL_THROUGH.search(query.text) and not _BEGUN.search(query.text)
