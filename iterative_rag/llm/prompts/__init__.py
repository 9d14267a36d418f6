"""The prompts: one text file a role, each declaring its variables.

A file begins with `version: N` and `variables: a b c`; `=== system` and `=== user` open its two parts; `{{a}}` is
where a variable goes. A variable that is used and not declared, or declared and not used, raises when it is loaded.
`=== plain` opens a third part where a role has it: how to reply in plain lines, for a model whose JSON cannot be used.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FILE = re.compile(
    r"\Aversion: (?P<version>\d+)\nvariables:(?P<variables>[ \w]*)\n+"
    r"=== system\n(?P<system>.+)\n=== user\n(?P<user>.+?)(?:\n=== plain\n(?P<plain>.+))?\Z",
    re.DOTALL,
)


class PromptError(ValueError):
    """A prompt file, or a call of one, that is wrong: a mistake of the programmer, not of the user."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A loaded prompt. `version` is the declared number and a hash of the file: it goes into cache keys. `plain` is ""
    for a role that replies in JSON only."""

    role: str
    version: str
    variables: frozenset[str]
    system: str
    user: str
    plain: str = ""

    def render(self, **values: str) -> tuple[str, str]:
        """(system, user) with every variable put in once: a `{{name}}` inside a value stays as it is."""
        if missing := self.variables - values.keys():
            raise PromptError(f"The prompt {self.role!r} needs {', '.join(sorted(missing))}.")
        if unknown := values.keys() - self.variables:
            raise PromptError(f"The prompt {self.role!r} does not know {', '.join(sorted(unknown))}.")

        def filled(text: str) -> str:
            return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)

        return filled(self.system), filled(self.user)


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
    plain = (parts["plain"] or "").strip()
    return Prompt(role, version, declared, parts["system"].strip(), parts["user"].strip(), plain)


def fence(text: str, kind: str = "document") -> str:
    """`text` between marks that it cannot close: they hold a hash of the text itself."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"<{kind} {mark}>\n{text}\n</{kind} {mark}>"


__all__ = ["Prompt", "PromptError", "fence", "load", "prompt", "versions"]
