"""Fields whose choices come from a registry, where `Literal` would be a second list of them; what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator

from iterative_rag.registry import in_words
from iterative_rag.types.documents import checked_since, condition

AUTO = "auto"
Length = Literal["short", "paragraph", "report"]
LENGTHS: tuple[Length, ...] = get_args(Length)
_LONGEST = 60


def one_of(names: Sequence[str]) -> AfterValidator:
    """Accepts these names only."""

    def check(value: str) -> str:
        if value not in names:
            raise ValueError(f"it must be {in_words([repr(name) for name in names])}")
        return value

    return AfterValidator(check)


def _language_code(value: str) -> str:
    from iterative_rag.text.languages import language_names

    if value != AUTO and value not in language_names():
        raise ValueError("it must be 'auto' or a code such as 'en' or 'de'")
    return value


def _conditions(value: Any) -> Any:
    texts = [value] if isinstance(value, str) else value
    for text in texts if isinstance(texts, list | tuple) else ():
        condition(str(text))
    return texts


LANGUAGE_CODE = AfterValidator(_language_code)  # `auto`, or a code: `de`
SINCE_DATE = AfterValidator(checked_since)  # `2024-05-01`, `2024-05`, `2024`
CONDITIONS = BeforeValidator(_conditions)  # a list of KEY=VALUE, or the text of one


def complaint(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, mostly in the words of pydantic: `error` is one of `ValidationError.errors()`."""
    said = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return said[:1].lower() + said[1:]


def shortened(value: object) -> str:
    """The value as it was typed, not too long for a message."""
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
