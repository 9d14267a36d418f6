"""The steps of a run as one line each, for clients of the network."""

from __future__ import annotations

from iterative_rag.serve.step_words import step_words
from iterative_rag.types import DegradedStep


def test_what_a_server_said_in_an_error_is_not_told() -> None:
    said = "http://10.1.2.3:11434 answered 500: no credit left for ada@example.org."
    told = step_words(DegradedStep(2, "reflect", "LLMServerError", said))
    assert told == "Hop 2: going on without the call to reflect, which failed"
