"""Writes the JSON schema of the server's events, iterative_rag/serve/runs/events.schema.json, from their types.

.venv/bin/python -m scripts.make_event_schema [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from iterative_rag.serve.runs.events import Queued, Started, Stopped
from iterative_rag.storage.trace import event_name
from iterative_rag.types import FinalStep, RunProgress, Step
from iterative_rag.types.steps import AnswerDelta, TextWithdrawn

PACKAGE = Path(__file__).resolve().parents[1] / "iterative_rag"
TARGET = PACKAGE / "serve" / "runs" / "events.schema.json"
_OTHERS: dict[str, type[Any]] = {
    "queued": Queued,
    "started": Started,
    "progress": RunProgress,
    "text": AnswerDelta,
    "withdrawn": TextWithdrawn,
    "stopped": Stopped,
}
_ERROR = {
    "type": "object",
    "description": "An error: the name of its class, one sentence, and what to do next.",
    "required": ["code", "message", "hint", "retryable"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": "string"},
        "retryable": {"type": "boolean"},
    },
}
_AT = {"type": "number", "description": "When it happened, in seconds since 1970."}


def main() -> int:
    text = json.dumps(event_schema(), indent=1, ensure_ascii=False) + "\n"
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.name} is out of date. Run: python -m scripts.make_event_schema", file=sys.stderr)
        return 1
    return 0


def event_schema() -> dict[str, Any]:
    """The schema of an object with one member: the name of an event, and its data."""
    kinds = {event_name(step): step for step in get_args(Step) if step is not FinalStep} | _OTHERS
    answer = json.loads((PACKAGE / "answer.schema.json").read_text(encoding="utf-8"))
    answer["properties"]["run_id"] = {"type": "string", "description": "the run, as /api/runs/ID has it"}
    definitions: dict[str, Any] = {"Error": _ERROR, "Answer": {**answer, "$id": "answer"}}
    properties: dict[str, Any] = {}
    for name, kind in kinds.items():
        form = TypeAdapter(kind).json_schema(mode="serialization", ref_template="#/$defs/{model}")
        definitions |= form.pop("$defs", {})
        form["properties"] = {**form.get("properties", {}), "at": _AT}
        form["required"] = [*form["properties"]]
        properties[name] = form
    for name, member, told in (("final", "answer", "Answer"), ("failed", "error", "Error")):
        reference = {"$ref": "answer" if told == "Answer" else f"#/$defs/{told}"}
        properties[name] = {"type": "object", "required": [member], "properties": {member: reference, "at": _AT}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Events of a run",
        "description": "What GET /api/runs/ID/events sends: an event NAME with DATA is {NAME: DATA} here.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
        "$defs": dict(sorted(definitions.items())),
    }


if __name__ == "__main__":
    sys.exit(main())
