"""The front matter of Markdown files: `key: value` and lists between two lines of `---`, a small part of YAML. What
this package writes is valid YAML. What others write is read as far as it is that simple."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from iterative_rag.system.files import json_value

Fields = dict[str, str | tuple[str, ...]]

MAX_CHARS = 64_000
_BLOCK = re.compile(rf"\A---[ \t]*\n(?:(.{{0,{MAX_CHARS}}}?)\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"(?P<key>[A-Za-z][\w-]*):[ \t]*(?P<value>.*?)[ \t]*")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.+?)[ \t]*")
# Values that need no quotes: no YAML syntax, nothing that YAML would not read as text.
_PLAIN = re.compile(r"[A-Za-z][\w ./@+()–-]*(?<! )")
_NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def split(text: str) -> tuple[Fields, str]:
    """The fields and the text after them; no fields and the whole text where there is no front matter."""
    if (block := _BLOCK.match(text)) is None:
        return {}, text
    fields: Fields = {}
    key = ""
    for line in (block[1] or "").split("\n"):
        if field := _FIELD.fullmatch(line):
            key = field["key"]
            fields[key] = _value(field["value"])
        elif key and isinstance(before := fields[key], tuple) and (entry := _ENTRY.fullmatch(line)):
            fields[key] = (*before, _read(entry[1]))
    return fields, text[block.end() :]


def join(fields: Mapping[str, str | Sequence[str]]) -> str:
    """The front matter as text. Empty values are left out."""
    lines = []
    for key, value in fields.items():
        if isinstance(value, str) and value:
            plain = _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT
            lines.append(f"{key}: {value if plain else json.dumps(value, ensure_ascii=False)}")
        elif value:
            lines.append(f"{key}: {json.dumps(list(value), ensure_ascii=False)}")
    return "\n".join(["---", *lines, "---", ""])


def text_of(fields: Fields, key: str) -> str:
    """A field of one value; "" where it is missing or a list."""
    value = fields.get(key, "")
    return value if isinstance(value, str) else ""


def _value(value: str) -> str | tuple[str, ...]:
    """One value, or a list on one line; an empty value may start a list over several lines."""
    if not value:
        return ()
    if value.startswith("[") and value.endswith("]"):
        try:
            return tuple(_read(json.dumps(item)) for item in json_value(value) if isinstance(item, str))
        except ValueError:  # YAML needs no quotes
            return tuple(_read(item.strip()) for item in value[1:-1].split(",") if item.strip())
    return _read(value)


def _read(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            # On one line, and without lone surrogates, which no database takes.
            return " ".join(str(json_value(value)).encode(errors="replace").decode().split())
        except ValueError:
            return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value
