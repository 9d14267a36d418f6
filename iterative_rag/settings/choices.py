"""Fields whose choices come from a registry, where `Literal` would be a second list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from iterative_rag.registry import Registry, in_words
from iterative_rag.types.within import checked_since, condition

AUTO = "auto"
Length = Literal["short", "paragraph", "report"]
LENGTHS: tuple[Length, ...] = get_args(Length)


def one_of(names: Sequence[str]) -> AfterValidator:
    """Accepts these names only, with the error message that pydantic gives for a `Literal`."""

    def check(value: str) -> str:
        if value not in names:
            expected = in_words([repr(name) for name in names])
            raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
        return value

    return AfterValidator(check)


def language_code() -> AfterValidator:
    """Accepts `auto` and the codes of languages: `de`."""

    def check(value: str) -> str:
        from iterative_rag.text.language_names import language_names

        if value != AUTO and value not in language_names():
            raise PydanticCustomError(
                "literal_error", "Input should be {expected}", {"expected": "'auto' or a code such as 'en' or 'de'"}
            )
        return value

    return AfterValidator(check)


def since_date() -> AfterValidator:
    """Accepts a day, month or year: `2024-05-01`, `2024-05`, `2024`."""

    def check(value: str) -> str:
        try:
            return checked_since(value)
        except ValueError as error:
            expected = "a day, month or year such as 2024-05-01, 2024-05 or 2024"
            raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected}) from error

    return AfterValidator(check)


def conditions() -> BeforeValidator:
    """Accepts conditions `KEY=VALUE`: a list of them, or the text of one."""

    def check(value: Any) -> Any:
        given = [value] if isinstance(value, str) else value
        for one in given if isinstance(given, list | tuple) else ():
            try:
                condition(str(one))
            except ValueError as error:
                expected = {"expected": "KEY=VALUE, such as author=Holm", "given": str(one)}
                raise PydanticCustomError("literal_error", "Input should be {expected}", expected) from error
        return given

    return BeforeValidator(check)


def form_of(parts: Registry) -> AfterValidator:
    """Accepts the names of the parts, and what begins like the form of one: `ollama/MODEL`."""
    forms = [entry.form or entry.name for entry in parts]

    def check(value: str) -> str:
        kind, slash, rest = value.partition("/")
        entry = parts.get(kind)
        if entry is None or bool(slash and rest) != ("/" in entry.form):
            expected = in_words([repr(form) for form in forms])
            raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
        return value

    return AfterValidator(check)
