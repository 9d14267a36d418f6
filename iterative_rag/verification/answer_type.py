"""What kind of answer a question asks for, where its words tell, whether a short answer is of that kind, which of yes
and no it is, and whether it is a refusal in disguise ("cannot be determined from the facts").

A text is a refusal if all of it says so, never because it holds the words: a film may be called "I Don't Know How
She Does It", and a source may call a date unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import language, language_of
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Draft, Fact, Inquiry
from iterative_rag.verification.claim_matching import split_claims
from iterative_rag.verification.text_reading import listed, pattern, read_text

_AFFIRMING = frozenset(["yes", "ja", "oui", "si", "sí", "sì", "sim", "да", "tak"])
_DENYING = frozenset(["no", "nein", "non", "não", "nee", "нет", "nie"])
_FIRST_WORD = lazy_pattern(r"\W*([^\W\d_]+)\s*(?:$|[,;:!()–—-]|\.(?!\s*\d))")


class Asked(StrEnum):
    NUMBER = "number"
    TIME = "time"
    REASON = "reason"
    ANY = "any"


def kind_asked(question: str) -> Asked:
    """By the question words at the beginning of a question or of one of its clauses."""
    plain = folded(" ".join(question.split())).strip(" ¿¡?\"'")
    return next((kind for kind, asks in _kinds().items() if asks.search(plain)), Asked.ANY)


def is_of_kind(question: str, short: str) -> bool:
    """False only where a number or a time is asked for and the short answer holds neither, or where a reason is and it
    holds nothing else."""
    asked = kind_asked(question)
    if asked is Asked.REASON:
        read = read_text(short, language(question))
        return not read.values or bool(read.words)
    if asked is Asked.ANY or re.search(pattern("questions", "stretch"), folded(question)):
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
    return not any(word in asking for word in folded_words(question)[:2])


@cache
def _kinds() -> dict[Asked, re.Pattern[str]]:
    """How a question asks for each kind; the first that it asks for counts."""
    begins, before_time = r"(?:^|[,;:] )", "|".join(listed("questions", "before_time"))
    return {
        Asked.REASON: re.compile(rf"^{pattern('questions', 'reason')}\b"),
        Asked.TIME: re.compile(rf"{begins}(?:(?:{before_time}) )?{pattern('questions', 'time')}\b"),
        Asked.NUMBER: re.compile(rf"{begins}(?:\w+ ){{0,2}}?{pattern('questions', 'number')}\b"),
    }


def is_refusal(inquiry: Inquiry, draft: Draft) -> bool:
    """Whether an answered draft says in fact that there is no answer."""
    if not draft.answered:
        return False
    if short := _plain(draft.short_answer):
        facts = [inquiry.facts[index] for index in draft.cited if index < len(inquiry.facts)]
        return _refusal().fullmatch(short) is not None and not _stands_in(short, facts)
    return all(_refusal().fullmatch(_plain(claim.text)) for claim in split_claims(draft.text))


@cache
def _refusal() -> re.Pattern[str]:
    """Compiled when it is first asked for: that takes as long as a tenth of a short question."""
    said = pattern("refusals", "said")
    for name in ("IT", "DONE", "GETAN", "FAIT"):
        said = said.replace(f"{{{name}}}", _any_of(name))
    sources = _any_of("sources")
    opening = f"(?:{_any_of('openings')},? )?"
    where = rf"{_any_of('before_sources')} (?:[\w']+ ){{0,4}}?{sources}(?: \w+){{0,3}}"
    silent = rf"(?:[\w']+ ){{0,3}}?{sources}(?: found| given| provided)? {pattern('refusals', 'silent')}\b.*"
    return re.compile(f"{opening}{said}(?:,? {where})?|{where},? {opening}{said}|{silent}")


def _any_of(name: str) -> str:
    return f"(?:{'|'.join(listed('refusals', name))})"


def _plain(text: str) -> str:
    return " ".join(folded(MARKER.sub("", text)).replace("’", "'").strip(" .!?\"'*()").split())


def _stands_in(short: str, facts: Sequence[Fact]) -> bool:
    """Whether a cited fact holds the very words: as its value, in its quote or its title."""
    wanted = re.compile(rf"(?<!\w){re.escape(short)}(?!\w)")
    return any(wanted.search(_plain(text)) for fact in facts for text in (fact.value, fact.quote, fact.title))
