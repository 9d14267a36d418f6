"""What servers differ in: what they take beside messages and how they refuse it, and how much of a prompt they read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from iterative_rag.errors import ContextOverflow, LLMServerError

# From the best to none at all. "json_object schema" is that of llama-cpp-python and others.
JSON_FORMS = ("json_schema", "json_object schema", "json_object", "")
# Statuses by which servers refuse a field that they do not know, or functions that the model cannot call; and those by
# which some do that have not foreseen it, as their words or their silence show.
_REFUSED = (400, 415, 422)
_FAILED = (-1, 500, 501)
_ABOUT_JSON = re.compile(
    r"response.?format|json.?(?:schema|object|mode)|guided|grammar|structured|unmarshal.+format|literal_error",
    re.IGNORECASE,
)
_ABOUT_EXTRAS = re.compile(r"seed|stream.?options", re.IGNORECASE)
_NO_FUNCTIONS = "--jinja"  # llama.cpp refuses functions with a 500 that says how to start it
# Groq checks what its model wrote and answers 400 where it breaks the schema: of that reply, not of the form.
FAILED_GENERATION = re.compile(r"failed.generation|json_validate_failed|failed to generate json", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """What a request holds besides the messages: `json` is how a reply in JSON is asked for, one of JSON_FORMS ("": by
    the prompt alone); `extras` are the seed, and the counts of tokens at the end of the stream; `functions` whether
    any are offered; `thinking` which of a model's ways to switch thinking is taken."""

    json: str = JSON_FORMS[0]
    extras: bool = True
    functions: bool = True
    thinking: int = 0

    @property
    def plain(self) -> Form:
        """The same with nothing that a server may refuse of JSON and counts."""
        return replace(self, json="", extras=False)

    def weaker(self, said: str, *, functions: bool, ways: int) -> Form | None:
        """The next form for a server that refuses this one in these words: without what they name, else without what
        servers know least. `functions`: the request has some; `ways` is how many there are to switch thinking."""
        about_json = self.json != "" and _ABOUT_JSON.search(said) is not None
        without_functions = replace(self, functions=False) if functions and self.functions else None
        if self.extras and not about_json and _ABOUT_EXTRAS.search(said):
            return replace(self, extras=False)
        if without_functions and ("tool" in said or _NO_FUNCTIONS in said):
            return without_functions
        if self.thinking < ways - 1 and not about_json:
            return replace(self, thinking=self.thinking + 1)
        if without_functions:
            return without_functions
        if about_json or self.json == JSON_FORMS[0]:
            return replace(self, json=JSON_FORMS[JSON_FORMS.index(self.json) + 1])
        return None if self == self.plain else self.plain


PLAIN = Form("", extras=False)


def refuses_form(error: LLMServerError) -> bool:
    """Whether a server refuses the form of a request, so that another form may go through."""
    if error.status in _REFUSED:
        return not isinstance(error, ContextOverflow)
    said = str(error)
    return error.status in _FAILED and (_NO_FUNCTIONS in said or _ABOUT_JSON.search(said) is not None)


# A server that counts fewer tokens does not count; one that counts one of these has cut what it was sent.
_LEAST_WINDOW = 500
_WINDOWS = frozenset(2**power for power in range(10, 21))
# Letters of Chinese, Japanese and Korean, of which a token has one or two; one of other scripts has about four.
_DENSE = r"\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_DENSE_LETTER = re.compile(f"[{_DENSE}]")
_LETTERS = r"A-Za-z\u00c0-\u024f\u0370-\u04ff"
# No token of any model spans two of these: words, numbers, marks behind them; of other scripts, what spaces part.
_APART = re.compile(rf"[{_LETTERS}]+|\d+|[!-/:-@\[-`{{-~]++(?![{_LETTERS}])|[^\s\x00-\u04ff{_DENSE}]+")


def about_tokens(text: str) -> int:
    """How many tokens a text has, more or less."""
    dense = len(_DENSE_LETTER.findall(text))
    return dense + (len(text) - dense) // 4


def least_tokens(text: str) -> int:
    """How many tokens a text has at least, by any model."""
    return len(_DENSE_LETTER.findall(text)) * 9 // 20 + sum(1 for _ in _APART.finditer(text))


def cut_from(prompt: str, counted: int) -> int:
    """How many tokens a prompt has of which a server counted so many, where that shows that it read a part; else 0."""
    needed = max(least_tokens(prompt), about_tokens(prompt) if counted in _WINDOWS else 0)
    return needed if _LEAST_WINDOW <= counted < needed else 0
