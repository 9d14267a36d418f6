"""Refusals in the guise of an answer ("cannot be determined from the facts"), in several languages.

A text is a refusal if all of it says so, never because it holds the words: a film may be called "I Don't Know How She
Does It", and a source may call a date unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Draft, Fact, Inquiry
from iterative_rag.verification.claim_splitting import split_claims
from iterative_rag.verification.word_lists import pattern, words

_MARKS = lazy_pattern(r"\s*\[\d+\]")


def is_refusal(inquiry: Inquiry, draft: Draft) -> bool:
    """Whether an answered draft says in fact that there is no answer."""
    if not draft.answered:
        return False
    if short := _plain(draft.short_answer):
        facts = [inquiry.facts[place] for place in draft.cited if place < len(inquiry.facts)]
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
    return f"(?:{'|'.join(words('refusals', name))})"


def _plain(text: str) -> str:
    return " ".join(folded(_MARKS.sub("", text)).replace("’", "'").strip(" .!?\"'*()").split())


def _stands_in(short: str, facts: Sequence[Fact]) -> bool:
    """Whether a cited fact holds the very words: as its value, in its quote or its title."""
    wanted = re.compile(rf"(?<!\w){re.escape(short)}(?!\w)")
    return any(wanted.search(_plain(text)) for fact in facts for text in (fact.value, fact.quote, fact.title))
