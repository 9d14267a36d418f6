"""Whether a sentence says that a value, or a yes, is not so: it denies it, calls it a wrong belief, tells what was only
planned or alleged, or what has ended."""

from __future__ import annotations

from iterative_rag.builtin.question.need_query import Query
from iterative_rag.text.patterns import lazy_pattern

_PREDECESSOR = lazy_pattern(r"(?i)\bpredecessor of\b|^who(?:m)? did .+ (?:succeed|replace)\b")
_FOLLOWED = lazy_pattern(r"(?i)\b(?:(?:succeeded|replaced|followed)\b[^.;]{0,40} by|successor)\W+(?:\w+ ){0,3}$")
# What stands before a value that is not it: "the mayor is not Bo Orm", "in Tellby rather than in Orm".
_NOT = lazy_pattern(r"(?i)\b(?:not|never|rather than|instead of|other than|unlike)(?: (?:the|an?|by|in|at|to|from))* $")
# "The misconception that it was made for astronauts", "he is wrongly said to be": that is not so.
_UNTRUE = lazy_pattern(
    r"(?i)\b(?:misconception|myth|urban legend|false (?:belief|claim|rumou?r)) that\b|\ba hoax\b"
    r"|\b(?:falsely|mistakenly|wrongly|incorrectly|erroneously) "
    r"(?:believe|think|thought|said|claim|assume|report|credit)"
)
# What was planned, tried, offered or only alleged, unless the sentence tells that it came about.
_UNDONE = lazy_pattern(
    r"(?i)\b(?:(?:plan(?:ned)?|intend(?:ed)?|want(?:ed)?|hoped?|tr(?:y|ied)|attempt(?:ed)?|threaten(?:ed)?|fail(?:ed)?"
    r"|refused?|declined?) to|was to have|offer(?:ed)?|would have \w+ed|(?:declined|rejected|turned down) (?:the|an?)"
    r"|nominated|(?:almost|nearly)(?= \w+ed\b)|alleg\w+|claim\w* (?:that|to)|accus\w+|rumou?r\w*|reputedly)\b"
)
_CAME_ABOUT = lazy_pattern(r"(?i)\b(?:succeed|did so|accept|was built|winning|won\b|convict|receive|became|produced)")
_CLAUSES = lazy_pattern(r"[;:]|\b(?:and|but|who|which|before|after)\b")
# "Its mayor was Bo Lind until 2009" does not tell who is mayor.
_PRESENT = lazy_pattern(r"(?i)^(?:\w+ ){0,3}?(?:is|are|does|do)\b")
_ENDED = lazy_pattern(r"(?i)\b(?:was|were|had|\w+ed)\b[^.;]{0,60}\buntil (?:\w+ )?\d{4}")


def denies_value(query: Query, sentence: str, value: str) -> bool:
    """Whether a sentence that holds a value says that it is not what the query asks for."""
    at = sentence.find(value)
    before, after = (sentence[:at], sentence[at + len(value) :]) if at >= 0 else ("", sentence)
    clause = _CLAUSES.split(before)[-1]
    if _NOT.search(before) or (_PREDECESSOR.search(query.text) and _FOLLOWED.search(before)):
        return True
    if _PRESENT.match(query.text) and _ENDED.search(f"{clause}{after}"):
        return True
    return is_untrue(query, before) or _is_undone(query, sentence, clause)


def denies_yes(query: Query, sentence: str) -> bool:
    """Whether a sentence that has the words of a yes/no question does not bear a yes out."""
    ended = _PRESENT.match(query.text) and _ENDED.search(sentence)
    return bool(ended) or _is_undone(query, sentence, _CLAUSES.split(sentence)[0])


def is_untrue(query: Query, text: str) -> bool:
    """Whether a text says that what it tells is not so, and is not asked just that."""
    return _UNTRUE.search(text) is not None and not _UNTRUE.search(query.text)


def _is_undone(query: Query, sentence: str, clause: str) -> bool:
    return bool(_UNDONE.search(clause)) and not (_UNDONE.search(query.text) or _CAME_ABOUT.search(sentence))
