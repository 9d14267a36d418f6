"""Fields whose choices come from a registry, where `Literal` would be a second list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from iterative_rag.registry import in_words
from iterative_rag.types.within import checked_since, condition

AUTO = "auto"
Length = Literal["short", "paragraph", "report"]
LENGTHS: tuple[Length, ...] = get_args(Length)


def _refused(expected: str, **context: str) -> PydanticCustomError:
    """The error that pydantic gives for a `Literal`; `given` is the item of a list that is meant."""
    return PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected, **context})


def one_of(names: Sequence[str]) -> AfterValidator:
    """Accepts these names only."""

    def check(value: str) -> str:
        if value not in names:
            raise _refused(in_words([repr(name) for name in names]))
        return value

    return AfterValidator(check)


def _language_code(value: str) -> str:
    from iterative_rag.text.languages import language_names

    if value != AUTO and value not in language_names():
        raise _refused("'auto' or a code such as 'en' or 'de'")
    return value


def _since_date(value: str) -> str:
    try:
        return checked_since(value)
    except ValueError as error:
        raise _refused("a day, month or year such as 2024-05-01, 2024-05 or 2024") from error


def _conditions(value: Any) -> Any:
    texts = [value] if isinstance(value, str) else value
    for text in texts if isinstance(texts, list | tuple) else ():
        try:
            condition(str(text))
        except ValueError as error:
            raise _refused("KEY=VALUE, such as author=Holm", given=str(text)) from error
    return texts


LANGUAGE_CODE = AfterValidator(_language_code)  # `auto`, or a code: `de`
SINCE_DATE = AfterValidator(_since_date)  # `2024-05-01`, `2024-05`, `2024`
CONDITIONS = BeforeValidator(_conditions)  # a list of KEY=VALUE, or the text of one
