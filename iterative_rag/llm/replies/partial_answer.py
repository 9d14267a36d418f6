"""Reads the answer out of a JSON reply that is still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_THOUGHTS_END = "</think>"


def answer_so_far(reply: str) -> str:
    """The text of the answer as far as the reply holds it; "" before it begins, and where the reply is no answer."""
    fields = written_object(reply)
    if str(fields.get("status", "answered")).strip(" .").casefold() != "answered":
        return ""
    return written_text(fields.get("answer"))


def written_text(value: Any) -> str:
    """What a reply holds where a text belongs; some models write one as a list of its parts."""
    if isinstance(value, list):
        return "\n\n".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def written_object(reply: str) -> Mapping[str, Any]:
    """The JSON object of a reply as far as it is written: its last text may be unfinished, and a name without a value
    is left out. Empty before it begins, and where it is no JSON."""
    if reply.lstrip().startswith("<think") and _THOUGHTS_END not in reply:
        return {}
    begin = reply.find("{", reply.rfind(_THOUGHTS_END) + 1)
    if begin < 0:
        return {}
    text = _TEXT.sub(_as_json, reply[begin:])
    try:
        written = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return {}
    return written if isinstance(written, Mapping) else {}


def _as_json(said: re.Match[str]) -> str:
    """A text with its line breaks as JSON writes them; "" where a backslash escapes nothing."""
    if set(_ESCAPE.findall(said[0])) - set('"\\/bfnrtu'):
        return '""'
    return _CONTROL.sub(lambda sign: json.dumps(sign[0])[1:-1], said[0])
