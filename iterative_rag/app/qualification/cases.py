"""The cases of a qualification, read from `cases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from iterative_rag.types import Document, Fact, Need


@dataclass(frozen=True, slots=True)
class RoleCase:
    """One call of a role. The file says what `shows`, `expect` and `planted` mean; the role gets the others."""

    id: str
    role: str
    shows: str
    expect: tuple[str, ...]
    planted: str = ""
    question: str = ""
    need: str = ""
    needs: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    facts: tuple[Fact, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    answer: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class WindowCase:
    """A sentence in the middle of filler: how long may a window be for the model to find it?"""

    need: str
    title: str
    sentence: str
    expect: str
    sizes: tuple[int, ...]
    filler: tuple[str, ...]

    def text(self, size: int) -> str:
        """Filler of about `size` characters with the sentence in its middle."""
        lines: list[str] = []
        while sum(map(len, lines)) + len(lines) < size - len(self.sentence):
            lines.append(self.filler[len(lines) % len(self.filler)])
        lines.insert(len(lines) // 2, self.sentence)
        return " ".join(lines)


@dataclass(frozen=True, slots=True)
class WholeQuestion:
    """A question for every strategy. Without `expect` the documents do not answer it."""

    text: str
    expect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """Everything that is asked in a qualification."""

    roles: tuple[RoleCase, ...]
    window: WindowCase
    documents: tuple[Document, ...]
    questions: tuple[WholeQuestion, ...]


@cache
def cases() -> Cases:
    """The cases of the package."""
    held = tomllib.loads(resources.files(__package__).joinpath("cases.toml").read_text(encoding="utf-8"))
    window = held["window"]
    return Cases(
        roles=tuple(_role_case(row) for row in held["case"]),
        window=WindowCase(**{**window, "sizes": tuple(window["sizes"]), "filler": tuple(window["filler"])}),
        documents=tuple(
            Document(row["title"], row["title"], row["text"], f"{row['title']}.md") for row in held["document"]
        ),
        questions=tuple(WholeQuestion(row["text"], tuple(row["expect"])) for row in held["question"]),
    )


def _role_case(row: Mapping[str, Any]) -> RoleCase:
    facts = tuple(_fact(n, fact) for n, fact in enumerate(row.get("facts", ())))
    documents = tuple((one["title"], one["text"]) for one in row.get("documents", ()))
    texts = {"text": row.get("text", "").strip(), "needs": tuple(row.get("needs", ()))}
    return RoleCase(**{**row, **texts, "expect": tuple(row["expect"]), "facts": facts, "documents": documents})


def _fact(n: int, row: Mapping[str, str]) -> Fact:
    """A fact whose quote is its statement, from a document of its own."""
    statement, need = row["statement"], Need(row["need"])
    return Fact(statement, statement, row["value"], f"case-{n}", "Notes", f"case-{n}.md", 0, len(statement), need, 1.0)
