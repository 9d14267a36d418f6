"""The parts of which the streams of OpenAI's and Ollama's protocols are made."""

from __future__ import annotations

import json
from typing import Any

SSE, JSON, NDJSON = "text/event-stream", "application/json", "application/x-ndjson"
DONE = b"data: [DONE]\n\n"


def event(value: object, head: str = "data: ", end: str = "\n\n") -> bytes:
    return f"{head}{json.dumps(value)}{end}".encode()


def chunk(delta: object, finish: object = None, **more: object) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice], **more}


def said(text: object, **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def turn(text: object, done: bool = False, **more: object) -> dict[str, Any]:
    """A line of Ollama's stream."""
    ending = {"done_reason": "stop", "prompt_eval_count": 21, "eval_count": 7} if done else {}
    return {"model": "tiny", "message": said(text, **more), "done": done, **ending}
