"""Reads what a model wrote where a field wants another type: lenient about spelling, never about meaning."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_TRUE = {"true", "yes", "y", "1", "useful"}
_FALSE = {"false", "no", "n", "0", "not_useful", "none", ""}
_NO_REMARK = {"none", "no", "n/a", "null", "false", "-", "not applicable"}
_SHARES = {"high": 0.9, "medium": 0.6, "low": 0.3}


def as_text(value: Any) -> Any:
    """3 -> "3", None -> "", ["a", "b"] -> "a, b"; a model means a string when it writes one of these.

    NaN, which Python's JSON parser accepts, means nothing either: as a text it would pass for a question.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(str(part) for part in value)
    return value.strip() if isinstance(value, str) else value


def written_text(value: Any) -> str:
    """What a reply holds where a text belongs; some models write one as a list of its parts."""
    if isinstance(value, list):
        return "\n\n".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def as_remark(value: Any) -> Any:
    """A sentence, or "" where the model wrote "none", "n/a" or false instead of one."""
    no_remark = isinstance(value, str) and value.strip(" .\"'").casefold() in _NO_REMARK
    return "" if value is None or isinstance(value, bool) or no_remark else value


def as_list(value: Any) -> Any:
    """A single item where a list is wanted becomes a list of one; nothing becomes an empty list."""
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def items_of(value: Any, name: str) -> list[Any]:
    """A list of objects, where an item that is a bare string is their field of this name."""
    return [{name: item} if isinstance(item, str) else item for item in as_list(value)]


def as_texts(value: Any) -> Any:
    """A list of texts, also where the model wrapped each in an object of one field."""
    items = [next(iter(x.values())) if isinstance(x, dict) and len(x) == 1 else x for x in as_list(value)]
    return [item for item in items if item not in ("", None)]


def as_notes(value: Any) -> list[str]:
    """Remarks as a list of texts, one alone or several; "none" and the like are left out."""
    texts = (as_text(item) for item in as_list(value))
    return [text for text in texts if isinstance(text, str) and as_remark(text)]


def as_numbers(value: Any) -> list[int]:
    """ "[1][3]", "1, 3", 3 and ["[1]", {"n": 3}] as the whole numbers in them."""
    if value is None or isinstance(value, bool | dict):
        return []
    return [int(digits) for digits in re.findall(r"(?<![\w.])\d{1,4}(?![\w.]\d)", str(value))]


def as_number(value: Any, absent: int) -> int:
    """The first whole number in "[1]", "Document 1", 1 or 1.0."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return next(iter(as_numbers(whole)), absent) if isinstance(whole, str | int) else absent


def as_share(value: Any) -> Any:
    """ "0.8", "80%" and 80 all mean 0.8; the result lies in 0..1."""
    if isinstance(value, str):
        number = re.search(r"\d+(?:\.\d+)?", value)
        if number is None:
            return _SHARES.get(value.strip().casefold(), 0.5)
        value = float(number.group()) / (100 if "%" in value else 1)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(1.0, max(0.0, value / 100 if 1 < value <= 100 else value))
    return 0.5 if value is None else value


def as_word(value: Any) -> Any:
    """ "Not in facts." -> "not_in_facts": the spelling of the schema's words."""
    return re.sub(r"[\s-]+", "_", value.strip(" \t\n.!*\"'").casefold()) if isinstance(value, str) else value


def as_flag(value: Any) -> Any:
    """ "Yes.", "TRUE", 1 and true mean true; anything but a yes or a no is left as it is, and refused."""
    if value is None:
        return False
    word = as_word(value)
    return word in _TRUE if isinstance(word, str) and word in _TRUE | _FALSE else value


Text = Annotated[str, BeforeValidator(as_text)]
Remark = Annotated[Text, BeforeValidator(as_remark)]
Texts = Annotated[list[Text], BeforeValidator(as_texts)]
Notes = Annotated[tuple[str, ...], BeforeValidator(as_notes)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(as_numbers)]
Share = Annotated[float, BeforeValidator(as_share)]
Flag = Annotated[bool, BeforeValidator(as_flag)]
# True only where the value plainly says so: for a field that a reply can do without.
SureFlag = Annotated[bool, BeforeValidator(lambda value: as_flag(value) is True)]
