"""How far a run has come, told while it goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentAtHand:
    """A document that is being read: the `number`th of the `of` documents that are listed for its need."""

    title: str
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run is doing at a moment, and what it has used by then.

    `role` is that of the model call under way that began first, "" where none is; `reading` are the documents that are
    being read, the one that was begun first before the others. `calls` counts the model calls begun; `tokens` are those
    of the prompts and replies that have come back.
    """

    role: str
    reading: tuple[DocumentAtHand, ...]
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The answer as far as the model has written it, not checked yet. One that does not begin with what was told before
    replaces it: the model is asked again."""

    text: str
