"""Reads a reply of plain `field: value` lines: the form that a model is asked for when its JSON cannot be used.

A field that is a list comes once for each item, under its name or the singular of it ("need: ..."). Where items have
fields of their own, each item is a block of lines; a field that comes again begins the next block. What a model puts
around it (bullets, bold type, fences, chatter) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from iterative_rag.replies.forms import R, Reply
from iterative_rag.replies.parsing import Unparsable, complaint, parse, visible

_LINE = re.compile(r"[\s>#•*-]*(?:\d{1,2}[.)]\s+)?\**`?([A-Za-z][A-Za-z _]{0,24}?)`?\**\s*:\**\s*(.*)$")
_QUOTED = re.compile(r'["“](.*)["”]', re.DOTALL)
_NOTHING = frozenset({"none", "nothing", "no facts", "n/a", "-", ""})


def parse_plain(text: str, reply_type: type[R]) -> R:
    """`text` as a `reply_type`: JSON all the same, or plain lines. Raises Unparsable."""
    try:
        return parse(text, reply_type)
    except Unparsable:
        pass
    values = _Lines(reply_type).read(visible(text))
    if not values:
        raise Unparsable("it held none of the lines asked for")
    try:
        return reply_type.model_validate(values)
    except ValidationError as error:
        raise Unparsable(complaint(error)) from error


class _Lines:
    """The lines of one reply as they are read: fields of the form itself, and blocks of its one list of objects."""

    def __init__(self, form: type[Reply]) -> None:
        self._scalars: dict[str, str] = {}
        self._lists: dict[str, str] = {}
        self._blocks = self._first = ""
        self._inner: set[str] = set()
        self._words: dict[str, str] = {}
        for name, field in form.model_fields.items():
            item = _item_type(field.annotation)
            if isinstance(item, type) and issubclass(item, Reply):
                self._blocks, self._inner = name, set(item.model_fields)
                self._first = next(iter(item.model_fields))
            elif item is not None:
                self._lists |= {name: name, name.removesuffix("s"): name}
            else:
                self._scalars[name] = name
                self._words |= dict.fromkeys(_words_of(field.annotation), name)
        self._values: dict[str, Any] = {}
        self._open: tuple[dict[str, Any] | list[Any], Any] | None = None

    def read(self, text: str) -> Mapping[str, Any]:
        for line in text.splitlines():
            match = _LINE.match(line)
            if match and self._take(_key(match[1]), match[2].strip()):
                continue
            if not line.strip() or line.lstrip().startswith("```"):
                self._open = None
            elif not self._take_word(line):
                self._continue(line)
        return {key: _unquoted(value) for key, value in self._values.items()}

    def _take(self, key: str, value: str) -> bool:
        """Whether the key is one of the form's; its value is put in its place."""
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
        """A line that is nothing but a word of the form: "known", or "none" for its list."""
        said = _key(line.strip(" .*`-"))
        if said in self._words:
            self._values.setdefault(self._words[said], said)
            return True
        if self._blocks and said.replace("_", " ") in _NOTHING:
            self._values.setdefault(self._blocks, [])
            return True
        return False

    def _continue(self, line: str) -> None:
        """A line without a key belongs to the value above it."""
        if self._open is not None:
            holder, key = self._open
            holder[key] = f"{holder[key]}\n{line.strip()}".strip()


def _key(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().casefold())


def _item_type(annotation: Any) -> Any:
    """What a list holds; None for what is no list."""
    if get_origin(annotation) in (list, tuple):
        item = get_args(annotation)[0]
        return get_args(item)[0] if hasattr(item, "__metadata__") else item
    return None


def _words_of(annotation: Any) -> tuple[str, ...]:
    return tuple(get_args(annotation)) if get_origin(annotation) is Literal else ()


def _unquoted(value: Any) -> Any:
    """Every text without the quotation marks that stand around all of it."""
    if isinstance(value, Mapping):
        return {key: _unquoted(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_unquoted(part) for part in value]
    match = _QUOTED.fullmatch(value.strip())
    return match[1] if match and not re.search('["“”]', match[1]) else value.strip()
