"""Reads the answer out of a JSON reply that is still being written."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?P<body>(?:[^"\\]|\\.)*)(?P<closed>")?|[{}\[\],:]', re.DOTALL)
# An escape of which the rest has not come, or the first half of a pair of surrogates.
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89abAB][0-9a-fA-F]{2}$")
_THOUGHTS_END = "</think>"


def answer_so_far(reply: str) -> str:
    """The text of the answer as far as the reply holds it; "" before it begins, and where the reply is no answer."""
    fields = written_fields(reply)
    if fields.get("status", "answered").strip(" .").casefold() != "answered":
        return ""
    return fields.get("answer", "")


def written_fields(reply: str) -> dict[str, str]:
    """The texts of a JSON object, by name; the last may be unfinished."""
    if reply.lstrip().startswith("<think") and _THOUGHTS_END not in reply:
        return {}
    begin = reply.find("{", reply.rfind(_THOUGHTS_END) + 1)
    fields: dict[str, str] = {}
    depth, name, is_value = 0, "", False
    for token in _TOKEN.finditer(reply, begin) if begin >= 0 else ():
        match token[0][0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if not depth:
                    break
            case ":":
                is_value = is_value or depth == 1
            case ",":
                is_value = is_value and depth != 1
            case _ if depth != 1:
                pass
            case _ if is_value:
                fields[name] = _decoded(token["body"])
            case _:
                name = _decoded(token["body"])
    return fields


def _decoded(body: str) -> str:
    """The text of a JSON string without its quotes, of which the end may be missing; "" where it is not valid."""
    try:
        text = str(json.loads(f'"{_CUT_ESCAPE.sub("", body)}"', strict=False))
    except ValueError:
        return ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
