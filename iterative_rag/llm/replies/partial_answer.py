"""Reads the answer out of a JSON reply that is still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from iterative_rag.remote.reply_limits import MAX_DEPTH

_TOKEN = re.compile(r'"(?P<body>(?:[^"\\]|\\.)*)(?P<closed>")?|[{}\[\],:]', re.DOTALL)
# An escape of which the rest has not come, or the first half of a pair of surrogates.
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89abAB][0-9a-fA-F]{2}$")
_THOUGHTS_END = "</think>"
_CLOSING = {"{": "}", "[": "]"}


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
    try:
        written = json.loads(_completed(reply[begin:])) if begin >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return written if isinstance(written, Mapping) else {}


def _completed(text: str) -> str:
    """The first JSON value of a text, cut after the last complete part of it, and closed."""
    parts: list[str] = []
    closing: list[str] = []
    taken, closed = 0, ""  # so many parts can be closed, by these brackets
    is_value, end = False, 0
    for token in _TOKEN.finditer(text):
        mark = token[0][0]
        parts.append(text[end : token.start()])
        end = token.end()
        if mark in "}],":  # a number, or a word such as true, is complete now
            taken, closed = len(parts), "".join(reversed(closing))
        parts.append(json.dumps(_decoded(token["body"])) if mark == '"' else mark)
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
            if len(closing) > MAX_DEPTH:
                return ""
        elif mark in "}]" and closing:
            closing.pop()
        if mark in "{[}]" or (mark == '"' and (is_value or closing[-1:] == ["]"])):
            taken, closed = len(parts), "".join(reversed(closing))
        if not closing:
            break
        is_value = mark == ":"
    return "".join(parts[:taken]) + closed


def _decoded(body: str) -> str:
    """The text of a JSON string without its quotes, of which the end may be missing; "" where it is not valid."""
    try:
        text = str(json.loads(f'"{_CUT_ESCAPE.sub("", body)}"', strict=False))
    except ValueError:
        return ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
