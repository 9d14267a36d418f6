"""The prompts: one text file a role, each declaring its variables.

A file begins with `version: N` and `variables: a b c`; `=== system` and `=== user` open its two parts; `{{a}}` is
where a variable goes. A variable that is used and not declared, or declared and not used, raises when it is loaded.
A variable that shares a line of the user part with words is a field and stays on that line, whatever it holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from iterative_rag.text.control_characters import one_line

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FILE = re.compile(
    r"\Aversion: (?P<version>\d+)\nvariables:(?P<variables>[ \w]*)\n+"
    r"=== system\n(?P<system>.+)\n=== user\n(?P<user>.+)\Z",
    re.DOTALL,
)


# What a document is called, and the like, is no longer than this; the rest is a text that pretends to be a name.
FIELD_CHARS = 300
# The kinds of fences. A text between two marks may hold what looks like one ("</facts>"): its bracket is another sign
# then, which quotes are compared without.
_KINDS = "accepted|answer|calls|claims|document|facts|lists|passage|question|result"
_LIKE_A_FENCE = re.compile(rf"<(?=\s*/?\s*(?:{_KINDS})\b[^<>]*>)", re.IGNORECASE)
_MARKER = re.compile(r"\[(\d{1,4})\]")


class PromptError(ValueError):
    """A prompt file, or a call of one, that is wrong: a mistake of the programmer, not of the user."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A loaded prompt. `version` is the declared number and a hash of the file: it goes into cache keys."""

    role: str
    version: str
    variables: frozenset[str]
    system: str
    user: str
    fields: frozenset[str] = frozenset()

    def render(self, **values: str) -> tuple[str, str]:
        """(system, user) with every variable put in once: a `{{name}}` inside a value stays as it is. Fields are
        put on one line."""
        if missing := self.variables - values.keys():
            raise PromptError(f"The prompt {self.role!r} needs {', '.join(sorted(missing))}.")
        if unknown := values.keys() - self.variables:
            raise PromptError(f"The prompt {self.role!r} does not know {', '.join(sorted(unknown))}.")

        shown = {**values, **{name: one_line(values[name]) for name in self.fields}}
        system = _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.system)
        return system, _PLACEHOLDER.sub(lambda match: shown[match.group(1)], self.user)


def versions() -> dict[str, str]:
    """Role -> version of every prompt of the package."""
    files = (file.name for file in resources.files(__name__).iterdir())
    names = sorted(name.removesuffix(".txt") for name in files if name.endswith(".txt"))
    return {name: prompt(name).version for name in names}


@cache
def prompt(role: str) -> Prompt:
    """The prompt of `role`, read once."""
    file = resources.files(__name__) / f"{role}.txt"
    if not file.is_file():
        raise PromptError(f"There is no prompt {role!r}.")
    return load(role, file.read_text(encoding="utf-8"))


def load(role: str, text: str) -> Prompt:
    """Read a prompt file's text. Raises PromptError where its form or its variables are wrong."""
    parts = _FILE.match(text.replace("\r\n", "\n"))
    if parts is None:
        raise PromptError(f"The prompt {role!r} lacks its version, variables, system or user part.")
    declared = frozenset(parts["variables"].split())
    used = frozenset(_PLACEHOLDER.findall(parts["system"] + parts["user"]))
    if undefined := used - declared:
        raise PromptError(f"The prompt {role!r} uses {', '.join(sorted(undefined))} without declaring it.")
    if unused := declared - used:
        raise PromptError(f"The prompt {role!r} declares {', '.join(sorted(unused))} without using it.")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    version = f"{parts['version']}-{digest}"
    beside_words = (line for line in parts["user"].splitlines() if _PLACEHOLDER.sub("", line).strip())
    fields = frozenset(name for line in beside_words for name in _PLACEHOLDER.findall(line))
    return Prompt(role, version, declared, parts["system"].strip(), parts["user"].strip(), fields)


def fence(text: str, kind: str = "document") -> str:
    """`text` between marks that it cannot close: they hold a hash of the text itself. It holds nothing that looks like
    one, either."""
    text = _LIKE_A_FENCE.sub("＜", text)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"<{kind} {mark}>\n{text}\n</{kind} {mark}>"


def as_field(text: str) -> str:
    """A title, a heading or what else a document calls something: one line, no longer than names are, and without the
    numbers in brackets that facts have."""
    line = _MARKER.sub(r"(\1)", one_line(text))
    return line if len(line) <= FIELD_CHARS else line[:FIELD_CHARS].rstrip() + " ..."


def lines(items: Iterable[str]) -> str:
    """The items, each on a line of its own, whatever they hold."""
    return "\n".join(map(one_line, items))
