"""What the roles reply that look at facts and answers: sufficiency, reflection."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from iterative_rag.llm.replies.forms import Reply, Text

_YES = {"true", "yes", "y", "1", "enough", "sufficient", "useful"}
_NO = {"false", "no", "n", "0", "not_enough", "insufficient", "not_useful", "none", ""}


def _as_flag(value: Any) -> Any:
    """ "Yes.", "TRUE", 1 and true mean true; what is plainly neither stays as it is and is refused."""
    if value is None:
        return False
    if isinstance(value, str):
        word = re.sub(r"[\s-]+", "_", value.strip(" .!*\"'").casefold())
        return True if word in _YES else False if word in _NO else value
    return value


def _as_nothing(value: Any) -> Any:
    """ "none", "no", "n/a" and false where a sentence or nothing is wanted mean nothing."""
    if value is None or isinstance(value, bool):
        return ""
    plain = value.strip(" .\"'").casefold() if isinstance(value, str) else value
    return "" if plain in ("none", "no", "n/a", "null", "false", "-", "not applicable") else value


def _as_numbers(value: Any) -> Any:
    """ "[1][3]", "1, 3", 1 and ["1", 3] are the numbers 1 and 3."""
    if value is None:
        return []
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, dict | list | bool) for part in parts):
        return []
    return [int(number) for part in parts for number in re.findall(r"\d{1,6}", str(part))]


def _as_number(value: Any) -> Any:
    """The first number of "claim 2" or "2."; 0 where there is none."""
    found = re.search(r"\d{1,6}", str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(found.group()) if found else 0


def _as_claim_verdict(value: Any) -> Any:
    """ "Supported", "true" and true mean "grounded"; anything that denies it, "not_grounded"."""
    if isinstance(value, bool):
        return "grounded" if value else "not_grounded"
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s-]+", "_", value.strip(" .!*\"'").casefold())
    if word in {"grounded", "supported", "true", "yes", "proved", "proven", "correct", "fully_supported"}:
        return "grounded"
    denied = {"ungrounded", "unsupported", "false", "no", "failed", "incorrect", "open", "partially_supported"}
    return "not_grounded" if word.startswith("not_") or word in denied else value


def _as_claims(value: Any) -> Any:
    """One claim, a list of claims, or {"1": {...}}: a list. A bare list of verdicts is numbered in its order."""
    if value is None:
        return []
    if isinstance(value, dict) and "verdict" not in value:
        value = [{"n": n, **(claim if isinstance(claim, dict) else {"verdict": claim})} for n, claim in value.items()]
    claims = value if isinstance(value, list) else [value]
    return [
        {"n": n, **claim} if isinstance(claim, dict) else {"n": n, "verdict": claim}
        for n, claim in enumerate(claims, start=1)
    ]


Flag = Annotated[bool, BeforeValidator(_as_flag)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_as_numbers)]
Remark = Annotated[Text, BeforeValidator(_as_nothing)]


class SufficiencyReply(Reply):
    reason: Text = ""
    enough: Flag
    gap: Remark = ""


class JudgedClaim(Reply):
    n: Annotated[int, BeforeValidator(_as_number)] = 0
    verdict: Annotated[Literal["grounded", "not_grounded"], BeforeValidator(_as_claim_verdict)]
    facts: Numbers = ()
    why: Text = ""


Claims = Annotated[tuple[JudgedClaim, ...], BeforeValidator(_as_claims)]


class ReflectionReply(Reply):
    reason: Text = ""
    claims: Claims = ()
    useful: Flag
    refusal: Flag = False
    false_premise: Remark = ""
    gap: Remark = ""
