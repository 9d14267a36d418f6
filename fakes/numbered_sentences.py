"""Scripts say what a model quotes; where it is shown numbered sentences, it names their numbers instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def unnumbered(prompt: str) -> str:
    """The prompt without the numbers of its sentences."""
    return _NUMBERED.sub(r"\2", prompt)


def sent(reply: str, prompt: str) -> str:
    """What a model sends whose script is this reply: JSON, or anything else, which stays as it is."""
    try:
        made = json.loads(reply)
    except ValueError:
        return reply
    return json.dumps(by_number(made, prompt)) if isinstance(made, dict) and "facts" in made else reply


def by_number(reply: Mapping[str, Any], prompt: str) -> Mapping[str, Any]:
    """The reply to an extraction, with the numbers of the sentences that hold each quote; 0 for a made-up one."""
    facts = reply.get("facts")
    if not isinstance(facts, list):
        return reply
    return {**reply, "facts": [_numbered(fact, prompt) if isinstance(fact, Mapping) else fact for fact in facts]}


def _numbered(fact: Mapping[str, Any], prompt: str) -> Mapping[str, Any]:
    if "quote" not in fact:
        return fact
    said = dict(fact)
    quote, shown = _plain(said.pop("quote")), [(int(n), _plain(text)) for n, text in _NUMBERED.findall(prompt)]
    holding = [n for n, text in shown if quote and quote in text]
    within = [n for n, text in shown if quote and text in quote]
    return {"sentences": holding[:1] or within or [0] * bool(quote), **said}


def _plain(text: str) -> str:
    return " ".join(text.split())
