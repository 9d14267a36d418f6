"""What a template is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.sources.dumps.inline import PIECES


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a template is given: values by position and by name (lower case), trimmed."""

    values: tuple[str, ...]
    named: dict[str, str]

    def at(self, place: int) -> str:
        """The value at a place, from 0; also where it was written as `1=value`."""
        return self.named.get(str(place + 1)) or (self.values[place] if place < len(self.values) else "")

    def all(self) -> list[str]:
        """Every value that says something, in order."""
        numbered = [value for name, value in self.named.items() if name.isdigit()]
        return [value for value in (*self.values, *numbered) if value]

    def get(self, *names: str) -> str:
        return next((self.named[name] for name in names if self.named.get(name)), "")


def arguments(parts: Sequence[str]) -> Arguments:
    values: list[str] = []
    named: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        # What stands before the sign is a name only if it could be one: not in "<span style=...>".
        if equals and "<" not in name and not PIECES.search(name):
            named[" ".join(name.lower().split())] = value.strip()
        else:
            values.append(part.strip())
    return Arguments(tuple(values), named)
