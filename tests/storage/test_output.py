"""What `--json` prints, against the schema that the package ships."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jsonschema
import pytest

from fakes.sample_answers import ABSTAINED, ANSWERED, CAPPED, FAULTY, SCHEMA, UNREAD
from iterative_rag.storage.output import answer_to_json, apart, around_value
from iterative_rag.types import Answer

ALL = [ANSWERED, ABSTAINED, CAPPED, FAULTY, UNREAD]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: str(answer.status))
def test_every_outcome_fits(answer: Answer, validator: jsonschema.Draft202012Validator) -> None:
    made = json.loads(json.dumps(answer_to_json(answer, version="1")))
    assert [error.message for error in validator.iter_errors(made)] == []


def test_the_keys_are_those_of_the_schema_in_its_order() -> None:
    made = answer_to_json(ANSWERED, version="1")
    assert [*made] == [*SCHEMA["properties"]]
    assert [*made["citations"][0]] == [*SCHEMA["$defs"]["citation"]["properties"]]


@pytest.mark.parametrize(
    ("text", "short", "bold", "by_itself"),
    [
        ("Yes [1].", "yes", "Yes", ""),
        ("The Velm Tower is 661 ft tall [1].", "661 ft", "661 ft", ""),
        ("Nothing is known of another one [1].", "no", "", "no"),
        ("他出生在东京。", "东京", "东京", ""),
        ("It was he [1].", "Edda Holm", "", "Edda Holm"),
    ],
)
def test_a_value_is_found_in_the_text_in_any_case_but_not_inside_a_word(
    text: str, short: str, bold: str, by_itself: str
) -> None:
    answer = dataclasses.replace(ANSWERED, text=text, short_answer=short)
    before, value, after = around_value(text, answer)
    assert (before + value + after, value) == (text, bold)
    assert apart(answer) == by_itself


@pytest.mark.parametrize(
    "change",
    [{"extra": 1}, {"status": "unknown"}, {"answer": ""}, {"reason": "none is given"}, {"citations": [{"n": 0}]}],
)
def test_the_schema_refuses_what_is_wrong(change: dict[str, Any], validator: jsonschema.Draft202012Validator) -> None:
    made = json.loads(json.dumps(answer_to_json(ANSWERED, version="1"))) | change
    assert not validator.is_valid(made)
