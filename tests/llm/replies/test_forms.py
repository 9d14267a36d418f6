"""Replies of real models to the reflecting roles: fenced, chatty, of wrong types, cut off."""

from __future__ import annotations

from typing import Literal

import pytest

from iterative_rag.llm.replies.forms import JudgedClaim, ReflectionReply, SufficiencyReply
from iterative_rag.llm.replies.json_parsing import parse

CLAIM = JudgedClaim(n=1, verdict="grounded", facts=(1, 3))


@pytest.mark.parametrize(
    "written",
    [
        '[{"n": 1, "verdict": "grounded", "facts": [1, 3]}]',
        '[{"n": "claim 1", "verdict": "Grounded.", "facts": "[1][3]"}]',
        '[{"verdict": true, "facts": "1, 3"}]',
        '[{"verdict": "supported", "facts": ["1", "[3]"]}]',
        '{"n": 1, "verdict": "grounded", "facts": [1, 3]}',
    ],
)
def test_claims_are_read_however_they_are_written(written: str) -> None:
    text = f'Here you go:\n```json\n{{"reason": "r", "claims": {written}, "useful": "Yes", "gap": "None"}}\n```'
    reply = parse(text, ReflectionReply)
    assert reply.claims == (CLAIM,)
    assert (reply.useful, reply.refusal, reply.gap) == (True, False, "")


@pytest.mark.parametrize(
    ("verdict", "meant"),
    [
        ("not grounded", "not_grounded"),
        ("Not_Grounded", "not_grounded"),
        ("unsupported", "not_grounded"),
        ("partially supported", "not_grounded"),
        ("false", "not_grounded"),
    ],
)
def test_anything_that_denies_is_not_grounded(verdict: str, meant: Literal["grounded", "not_grounded"]) -> None:
    reply = parse(f'{{"claims": [{{"verdict": "{verdict}"}}], "useful": true}}', ReflectionReply)
    assert reply.claims == (JudgedClaim(n=1, verdict=meant),)


@pytest.mark.parametrize(
    ("written", "enough"),
    [("true", True), ('"Yes."', True), ("1", True), ('"false"', False), ("0", False), ("null", False)],
)
def test_enough_is_read_as_what_it_means(written: str, enough: bool) -> None:
    assert parse(f'{{"enough": {written}, "gap": "n/a"}}', SufficiencyReply) == SufficiencyReply(enough=enough)
