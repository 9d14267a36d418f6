"""Calls a model for a reply of a given form: tells it once what was wrong, asks for plain lines if that does not help,
then fails with ReplyUnreadable, which says what the attempts cost.

A reply in plain `field: value` lines is the form that a model is asked for when its JSON cannot be used. A list field
has one line for each item, under its name or the singular of it ("need: ..."). Where items have fields of their own,
each item is a block of lines; a field that repeats begins the next block. What a model puts around them (bullets, bold
type, fences, chatter) is skipped. JSON that was cut off cannot be parsed, but such lines can. So the model is asked for
a last line that says "end", and a reply without it counts only where it obviously ends where it should.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

from iterative_rag.errors import LLMError, LLMTimeout, ReplyTruncated, ReplyUnreadable
from iterative_rag.llm.replies.forms import R, Reply
from iterative_rag.llm.replies.json_parsing import Unparsable, parse, validated, visible
from iterative_rag.protocols import CallBudget, ChatModel, ChatReply, ChatRequest, FunctionCall
from iterative_rag.types import Usage

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
    names = _Names(reply_type)
    said, complete = _said(visible(text), names)
    values = names.values(said)
    if not values:
        raise Unparsable("it held none of the lines asked for")
    if not complete:
        raise Unparsable(f'it was cut off: the last line has to be "{_END}"')
    return validated(values, reply_type)


class _Names:
    """The names that lines may have: of a form's fields (`plain`), and of those of the items of its one list of objects
    (`inner`), which is the field `block`. A list may go by its singular. `words` may stand alone for their field."""

    def __init__(self, form: type[Reply]) -> None:
        self.plain: dict[str, str] = {}
        self.lists: set[str] = set()
        self.block, self.inner = "", list[str]()
        self.words: dict[str, str] = {}
        for name, field in form.model_fields.items():
            item = _item_type(field.annotation)
            if isinstance(item, type) and issubclass(item, Reply):
                self.block, self.inner = name, item.line_names()
            else:
                self.lists |= {name} if item is not None else set()
                self.words |= dict.fromkeys(_words_of(field.annotation), name)
            self.plain |= {name: name, name.removesuffix("s") if item is not None else name: name}
        # The fields that may come last in a reply without "end": a list may lack items, a single field may lack words.
        fields = list(form.model_fields)
        single = len(fields) > 1 and fields[-1] not in self.lists | {self.block}
        self.last = {*self.inner[-1:], *(fields[-1:] if single else [])}

    def field(self, key: str) -> str:
        """The field that a key names, "" for none."""
        return key if key in self.inner else self.plain.get(key, "")

    def values(self, said: Sequence[Sequence[str]]) -> Mapping[str, Any]:
        """The fields of the reply, from what was said of each."""
        values: dict[str, Any] = {}
        for name, text in said:
            nothing = text.casefold().strip(" .") in _NOTHING
            if name in self.lists:
                values.setdefault(name, []).extend([] if nothing else [_unquoted(text)])
            elif name == self.block and nothing:
                values.setdefault(name, [])
            elif name == self.block or name in self.inner:
                blocks, key = values.setdefault(self.block, []), self.inner[0] if name == self.block else name
                if not blocks or key in blocks[-1]:
                    blocks.append({})
                blocks[-1][key] = _unquoted(text)
            else:
                values[name] = _unquoted(text)
        return values


def _said(text: str, names: _Names) -> tuple[list[list[str]], bool]:
    """The fields that the lines of a reply name, each with its text; and whether the reply is whole, by its last line
    or by how it ends."""
    said: list[list[str]] = []
    going_on: list[str] | None = None  # what a line without a name belongs to
    key = last = ""
    for line in text.splitlines():
        last = line.strip() or last
        bare = _key(line.strip(" .*`-"))
        if bare == _END:
            break
        match = _LINE.match(line)
        key = _key(match[1]) if match else key
        if match and (name := names.field(key)):
            going_on = [name, match[2].strip()]
            said.append(going_on)
        elif not line.strip() or line.lstrip().startswith("```"):
            going_on = None
        elif bare in names.words:
            said.insert(0, [names.words[bare], bare])  # a line that names its field counts more
        elif names.block and bare.replace("_", " ") in _NOTHING:
            said.append([names.block, ""])
        elif going_on is not None:
            going_on[1] = f"{going_on[1]}\n{line.strip()}".strip()
    word = _key(last.rpartition(":")[2].strip(" .*`-"))
    ends = word == _END or last.startswith("```") or _FINISHED.search(last) is not None or key in names.last
    return said, ends or word in names.words or word.replace("_", " ") in _WHOLE_WORDS


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


def _unquoted(text: str) -> str:
    """A text without quotation marks around all of it."""
    match = _QUOTED.fullmatch(text.strip())
    return match[1] if match and not re.search('["“”]', match[1]) else text.strip()


Check = Callable[[R], str]
# The first attempt, and one that says what was wrong with it.
JSON_ATTEMPTS = 2


def ask(
    model: ChatModel,
    budget: CallBudget,
    request: ChatRequest,
    reply_type: type[R],
    check: Check[R] | None = None,
    *,
    plain: str = "",
) -> R:
    """Call the model and read its reply. A retry says what was wrong; where that cannot be read either, a last one
    asks for plain lines, with the instructions in `plain` ("": no such retry).

    `check` returns a complaint about a readable reply, "" if it is fine. A complaint costs the retry as well, but the
    last readable reply is returned all the same. Raises LLMError, CapReached.
    """
    spent = Usage()
    kept: R | None = None
    wrong = text = ""
    attempts = JSON_ATTEMPTS + bool(plain)
    for attempt in range(1, attempts + 1):
        in_lines = attempt > JSON_ATTEMPTS
        if in_lines and kept is not None:
            break
        asked = _in_lines(request, plain, wrong) if in_lines else _with_complaint(request, wrong, text)
        try:
            reply, seconds = _call(model, budget, asked)
            spent = _added(spent, reply, seconds)
            text = reply.text
            if reply.thought and not text.strip():
                raise Unparsable("it held thoughts alone; write the reply itself")
            kept = parse_plain(text, reply_type) if in_lines else parse(text, reply_type)
        except ReplyTruncated as error:
            if error.retryable or (attempt == attempts and kept is None):
                raise
            wrong, text = "it was too long and was cut off; be much shorter", ""
        except Unparsable as error:
            wrong = str(error)
        else:
            wrong = check(kept) if check else ""
            if not wrong:
                return kept
    if kept is not None:
        return kept
    raise ReplyUnreadable(
        f"The model {model.name} did not reply in the form asked for ({request.role}) in {attempts} attempts: {wrong}.",
        reply=text,
        usage=spent,
        hint="Try a larger model, or one that follows JSON schemas.",
    )


def _call(model: ChatModel, budget: CallBudget, request: ChatRequest) -> tuple[ChatReply, float]:
    request = replace(request, seconds=budget.before_call(request.role))
    started = time.monotonic()
    try:
        reply = model.complete(request)
        reply = replace(reply, text=written_out(reply.text, reply.calls))
    except LLMError as error:
        waited = time.monotonic() - started
        budget.failed_call(request, error, model.name, waited)
        if isinstance(error, LLMTimeout) and request.seconds is not None and waited >= request.seconds:
            budget.before_call(request.role)  # raises CapReached: the time of the run is up, not that of the call
        raise
    seconds = time.monotonic() - started
    budget.after_call(request, reply, model.name, seconds)
    return reply, seconds


def written_out(text: str, calls: Sequence[FunctionCall]) -> str:
    """A reply with calls of functions as the JSON that a model without function calling writes."""
    if not calls:
        return text
    made = [{"tool": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps({"thought": text, "calls": made}, ensure_ascii=False)


def _with_complaint(request: ChatRequest, wrong: str, text: str) -> ChatRequest:
    """The same request with the complaint at its end, so that the server's prefix cache still covers the rest."""
    if not wrong:
        return request
    began = f" It began: {json.dumps(text[:200], ensure_ascii=False)}" if text.strip() else ""
    fields = ", ".join(_described(name, form) for name, form in (request.schema or {}).get("properties", {}).items())
    wanted = f" Its fields are: {fields}." if fields else ""
    advice = f"Your last reply could not be used: {wrong}.{began}\nReply again, with the JSON object alone.{wanted}"
    return replace(request, user=f"{request.user}\n\n{advice}", broken=True)


def _described(name: str, form: Mapping[str, Any]) -> str:
    """A field of a schema: `status (one of "known", "needs", "stuck")`, `needs (a list)`."""
    if words := form.get("enum"):
        return f"{name} (one of {', '.join(json.dumps(word) for word in words)})"
    return f"{name} ({'a list' if form.get('type') == 'array' else form.get('type', 'any')})"


def _in_lines(request: ChatRequest, plain: str, wrong: str) -> ChatRequest:
    """The same request for a reply in plain lines, without a schema: a server may be unable to follow one."""
    advice = f"Your last reply could not be used: {wrong}. Do not write JSON this time.\n{plain}\n{LAST_LINE}"
    return replace(request, user=f"{request.user}\n\n{advice}", schema=None, functions=())


def _added(spent: Usage, reply: ChatReply, seconds: float) -> Usage:
    return Usage(
        llm_calls=spent.llm_calls + 1,
        prompt_tokens=spent.prompt_tokens + reply.prompt_tokens,
        completion_tokens=spent.completion_tokens + reply.completion_tokens,
        seconds=spent.seconds + seconds,
    )
