"""The arguments of a template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.sources.dumps.inline import PIECES


@dataclass(frozen=True, slots=True)
class Arguments:
    """Values by position and by name (lower case), trimmed."""

    values: tuple[str, ...]
    named: dict[str, str]

    def at(self, position: int) -> str:
        """The value at a position, from 0; also where it was written as `1=value`."""
        return self.named.get(str(position + 1)) or (self.values[position] if position < len(self.values) else "")

    def all(self) -> list[str]:
        """The positional values that are not empty, in order."""
        numbered = [value for name, value in self.named.items() if name.isdigit()]
        return [value for value in (*self.values, *numbered) if value]

    def get(self, *names: str) -> str:
        """The first of these arguments that is not empty, else ""."""
        return next((self.named[name] for name in names if self.named.get(name)), "")


def parse_arguments(parts: Sequence[str]) -> Arguments:
    values: list[str] = []
    named: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        # In "<span style=...>" the equals sign separates no name.
        if equals and "<" not in name and not PIECES.search(name):
            named[" ".join(name.lower().split())] = value.strip()
        else:
            values.append(part.strip())
    return Arguments(tuple(values), named)
