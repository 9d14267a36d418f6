"""How much a reply may hold: its characters, the depth of its JSON, the lengths of its fields and words.

Apart from the bytes of a body, because a reply from the cache is held to the same and needs no HTTP client.
"""

from __future__ import annotations

import re

# Of what a model writes: no form that it is asked for comes near any of these.
MAX_REPLY_CHARS = 400_000
MAX_FIELD_CHARS = 60_000
MAX_WORD_CHARS = 2_000
MAX_DEPTH = 16
_LONG_WORD = re.compile(rf"\w{{{MAX_WORD_CHARS}}}")


def excess(value: object) -> str:
    """Which text in a value is longer than anything that was asked for, in words for the model that wrote it; "" where
    none is. Names, words and texts of any length cost time and memory wherever they are compared."""
    fields: list[tuple[str, object, int]] = [("", value, 1)]
    while fields:
        name, part, depth = fields.pop()
        if depth > MAX_DEPTH:
            return f"the field {name!r} is nested too deeply"
        if isinstance(part, dict):
            fields += [(str(key)[:40], item, depth + 1) for key, item in part.items()]
        elif isinstance(part, list | tuple):
            fields += [(name, item, depth + 1) for item in part]
        elif isinstance(part, str) and len(part) > MAX_FIELD_CHARS:
            return f"the field {name!r} has {len(part):,} characters; write at most {MAX_FIELD_CHARS:,}"
        elif isinstance(part, str) and _LONG_WORD.search(part):
            return f"the field {name!r} holds a word of more than {MAX_WORD_CHARS:,} characters"
    return ""
