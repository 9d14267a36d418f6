"""What kind of answer a question asks for, where its words tell, whether a short answer is of that kind, and which of
yes and no it is."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language, language_of
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.verification.text_reading import read_text
from iterative_rag.verification.word_lists import pattern, words

_AFFIRMING = frozenset(["yes", "ja", "oui", "si", "sí", "sì", "sim", "да", "tak"])
_DENYING = frozenset(["no", "nein", "non", "não", "nee", "нет", "nie"])
_FIRST_WORD = lazy_pattern(r"\W*([^\W\d_]+)\s*(?:$|[,;:!()–—-]|\.(?!\s*\d))")
_WORD = lazy_pattern(r"\w+")


class Asked(StrEnum):
    NUMBER = "number"
    TIME = "time"
    REASON = "reason"
    ANY = "any"


def kind_asked(question: str) -> Asked:
    """By the question words at the beginning of a question or of one of its clauses."""
    plain = folded(" ".join(question.split())).strip(" ¿¡?\"'")
    number, time, reason, _ = _patterns()
    if reason.search(plain):
        return Asked.REASON
    if time.search(plain):
        return Asked.TIME
    return Asked.NUMBER if number.search(plain) else Asked.ANY


def is_of_kind(question: str, short: str) -> bool:
    """False only where a number or a time is asked for and the short answer holds neither, or where a reason is and it
    holds nothing else."""
    *_, stretch = _patterns()
    asked = kind_asked(question)
    if asked is Asked.REASON:
        read = read_text(short, language(question))
        return not read.values or bool(read.words)
    if asked is Asked.ANY or stretch.search(folded(question)):
        return True
    # "None", "never", "the same year", "one": answers that a number may have, in few words; "late in July".
    in_months = asked is Asked.TIME and any(word in language_of("").months for word in folded(short).split())
    return len(short.split()) <= 2 or in_months or bool(mentions(short, language(question)))


def yes_or_no(text: str) -> str:
    """The yes or no that a text is or begins with ("Nein, ..."), as it is written; "" where there is none."""
    first = _FIRST_WORD.match(text)
    return first[1] if first and first[1].casefold() in _AFFIRMING | _DENYING else ""


def affirms(word: str) -> bool:
    return word.casefold() in _AFFIRMING


def asks_yes_or_no(question: str) -> bool:
    """Whether a question begins with no question word, not even after a preposition."""
    asking = language_of(language(question) or "en").question_words
    return not any(word in asking for word in _WORD.findall(folded(question))[:2])


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    begins, before_time = r"(?:^|[,;:] )", "|".join(words("questions", "before_time"))
    return (
        re.compile(rf"{begins}(?:\w+ ){{0,2}}?{pattern('questions', 'number')}\b"),
        re.compile(rf"{begins}(?:(?:{before_time}) )?{pattern('questions', 'time')}\b"),
        re.compile(rf"^{pattern('questions', 'reason')}\b"),
        re.compile(pattern("questions", "stretch")),
    )
