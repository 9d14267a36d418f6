"""The text that the evidence reader sees, as word pieces: `[CLS] question [SEP] title, section: passage [SEP]`.

A claim stands as "question = value" in place of the question. Training cuts its examples by the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SEPARATOR: Final = " = "
# Most word pieces of the question, and of the value of a claim and of the heading each.
MAX_QUESTION, MAX_HEADING = 64, 24


def heading(title: str, section: str) -> str:
    return f"{title}, {section}:" if title and section else f"{title or section}:" if title or section else ""


def asked_ids(tokenizer: Tokenizer, question: str, value: str = "") -> list[int]:
    """The pieces of a question, or with a value those of a claim."""
    ids = _ids(tokenizer, question, MAX_QUESTION)
    return ids + _ids(tokenizer, f"{SEPARATOR}{value}", MAX_HEADING) if value else ids


def heading_ids(tokenizer: Tokenizer, title: str, section: str) -> list[int]:
    return _ids(tokenizer, heading(title, section), MAX_HEADING)


def _ids(tokenizer: Tokenizer, text: str, most: int) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids[:most]
