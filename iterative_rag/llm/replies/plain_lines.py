"""Reads a reply in plain `field: value` lines: the form that a model is asked for when its JSON cannot be used.

A list field has one line for each item, under its name or the singular of it ("need: ..."). Where items have fields of
their own, each item is a block of lines; a field that repeats begins the next block. What a model puts around them
(bullets, bold type, fences, chatter) is skipped.

JSON that was cut off cannot be parsed, but such lines can. So the model is asked for a last line that says "end", and
a reply without it counts only where it obviously ends where it should.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from iterative_rag.llm.replies.forms import R, Reply
from iterative_rag.llm.replies.json_parsing import Unparsable, parse, validated, visible

_LINE = re.compile(r"[\s>#•*-]*+(?:\d{1,2}[.)]\s+)?\**+`?([A-Za-z][A-Za-z _]{0,24}?)`?\**\s*:\**\s*(.*)$")
_QUOTED = re.compile(r'["“](.*)["”]', re.DOTALL)
_END = "end"
# Added to the plain-line instructions of every role.
LAST_LINE = f"After that, write one last line: {_END}"
_FINISHED = re.compile(r"[.?!][\"”'’)*`]*$|[\"”]$")
_NOTHING = frozenset({"none", "nothing", "no facts", "n/a", "-", ""})
_WHOLE_WORDS = _NOTHING - {""} | {"yes", "no", "true", "false"}


def parse_plain(text: str, reply_type: type[R]) -> R:
    """Read `text` as a `reply_type`, from plain lines or from JSON all the same. Raises Unparsable."""
    try:
        return parse(text, reply_type)
    except Unparsable:
        pass
    lines = _Lines(reply_type)
    values = lines.read(visible(text))
    if not values:
        raise Unparsable("it held none of the lines asked for")
    if not lines.complete:
        raise Unparsable(f'it was cut off: the last line has to be "{_END}"')
    return validated(values, reply_type)


class _Lines:
    """Reads the lines of one reply: the fields of its form, and the blocks of its one list of objects."""

    def __init__(self, form: type[Reply]) -> None:
        self._scalars: dict[str, str] = {}
        self._lists: dict[str, str] = {}
        self._blocks = self._first = ""
        self._inner: dict[str, None] = {}
        self._words: dict[str, str] = {}
        for name, field in form.model_fields.items():
            item = _item_type(field.annotation)
            if isinstance(item, type) and issubclass(item, Reply):
                self._blocks, self._inner = name, dict.fromkeys(item.line_names())
                self._first = next(iter(self._inner))
            elif item is not None:
                self._lists |= {name: name, name.removesuffix("s"): name}
            else:
                self._scalars[name] = name
                self._words |= dict.fromkeys(_words_of(field.annotation), name)
        self._values: dict[str, Any] = {}
        self._open: tuple[dict[str, Any] | list[Any], Any] | None = None
        # The fields that may come last in a reply without "end": a list may lack items, a single field may lack words.
        fields = list(form.model_fields)
        self._last_fields = set(list(self._inner)[-1:])
        if len(fields) > 1 and fields[-1] in self._scalars:
            self._last_fields.add(fields[-1])
        self._last_key = self._last_line = ""

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, by its last line or by how it ends."""
        last = self._last_line
        word = _key(last.rpartition(":")[2].strip(" .*`-"))
        return (
            word == _END
            or last.startswith("```")
            or _FINISHED.search(last) is not None
            or self._last_key in self._last_fields
            or word in self._words
            or word.replace("_", " ") in _WHOLE_WORDS
        )

    def read(self, text: str) -> Mapping[str, Any]:
        for line in text.splitlines():
            if line.strip():
                self._last_line = line.strip()
            if _key(line.strip(" .*`-")) == _END:
                break
            match = _LINE.match(line)
            if match and self._take(_key(match[1]), match[2].strip()):
                continue
            if not line.strip() or line.lstrip().startswith("```"):
                self._open = None
            elif not self._take_word(line):
                self._continue(line)
        return {key: _unquoted(value) for key, value in self._values.items()}

    def _take(self, key: str, value: str) -> bool:
        """Store the value if the form has a field of this key; whether it has."""
        self._last_key = key
        if self._blocks and (key in self._inner or key in (self._blocks, self._blocks.removesuffix("s"))):
            self._take_inner(key, value)
        elif key in self._scalars:
            self._values[key] = value
            self._open = (self._values, key)
        elif key in self._lists:
            self._take_item(self._values.setdefault(self._lists[key], []), value)
        else:
            return False
        return True

    def _take_inner(self, key: str, value: str) -> None:
        blocks = self._values.setdefault(self._blocks, [])
        if key not in self._inner:
            if value.casefold().strip(" .") in _NOTHING:
                self._open = None
                return
            key = self._first
        if not blocks or key in blocks[-1]:
            blocks.append({})
        blocks[-1][key] = value
        self._open = (blocks[-1], key)

    def _take_item(self, items: list[Any], value: str) -> None:
        if value.casefold().strip(" .") not in _NOTHING:
            items.append(value)
            self._open = (items, len(items) - 1)

    def _take_word(self, line: str) -> bool:
        """Store a line that is only a word of the form ("known", or "none" for its list); whether it is one."""
        word = _key(line.strip(" .*`-"))
        if word in self._words:
            self._values.setdefault(self._words[word], word)
            return True
        if self._blocks and word.replace("_", " ") in _NOTHING:
            self._values.setdefault(self._blocks, [])
            return True
        return False

    def _continue(self, line: str) -> None:
        """Add a line without a key to the value above it."""
        if self._open is not None:
            holder, key = self._open
            holder[key] = f"{holder[key]}\n{line.strip()}".strip()


def _key(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().casefold())


def _item_type(annotation: Any) -> Any:
    """The type of a list's items; None for what is no list."""
    if get_origin(annotation) in (list, tuple):
        item = get_args(annotation)[0]
        return get_args(item)[0] if hasattr(item, "__metadata__") else item
    return None


def _words_of(annotation: Any) -> tuple[str, ...]:
    return tuple(get_args(annotation)) if get_origin(annotation) is Literal else ()


def _unquoted(value: Any) -> Any:
    """Every text without quotation marks around all of it."""
    if isinstance(value, Mapping):
        return {key: _unquoted(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_unquoted(part) for part in value]
    match = _QUOTED.fullmatch(value.strip())
    return match[1] if match and not re.search('["“”]', match[1]) else value.strip()
