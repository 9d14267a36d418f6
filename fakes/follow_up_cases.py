"""Forty follow-ups in twelve conversations over the starter corpus, with the questions that they stand for.

They were written before the rules that rewrite them, and stand in `evaluation/follow_ups.jsonl`. The answers before a
follow-up are given, so that a rewriting is judged apart from reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Case:
    """A follow-up. `meant` are the wordings that count as right, the first the one that the conversation goes on with;
    empty where it cannot be understood and has to be refused. `answer` and `quote` are what that question brings."""

    asked: str
    kind: str
    meant: tuple[str, ...] = ()
    answer: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class FollowUpCases:
    """A conversation: its first question with the answer and a quote, and the follow-ups in their order."""

    question: str
    answer: str
    quote: str = ""
    cases: tuple[Case, ...] = ()


_FILE = Path(__file__).resolve().parents[1] / "evaluation" / "follow_ups.jsonl"
_READER = TypeAdapter(FollowUpCases)
CONVERSATIONS = tuple(_READER.validate_json(line) for line in _FILE.read_text(encoding="utf-8").splitlines())
