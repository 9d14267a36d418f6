"""The shipped fake: what is not in the script fails, and what is not used too."""

from __future__ import annotations

import json

import pytest

from fakes.scripted_llm import ScriptedLLM, UnscriptedCall, UnusedReplies
from iterative_rag.protocols import ChatReply, ChatRequest


def request(role: str, user: str = "u") -> ChatRequest:
    return ChatRequest(role, "s", user)


def test_replies_come_in_order_and_per_role() -> None:
    with ScriptedLLM({"a": ["one", {"two": 2}, ChatReply("three", 1, 2)], "b": [lambda r: r.user.upper()]}) as llm:
        assert llm.complete(request("a")).text == "one"
        assert llm.complete(request("b", "echo")).text == "ECHO"
        assert json.loads(llm.complete(request("a")).text) == {"two": 2}
        assert llm.complete(request("a")).completion_tokens == 2
    assert [seen.role for seen in llm.requests] == ["a", "b", "a", "a"]
    assert len(llm.asked("a")) == 3


def test_unscripted_calls_and_unused_replies_fail() -> None:
    llm = ScriptedLLM({"a": ["one"]})
    with pytest.raises(UnscriptedCall, match="'b'"):
        llm.complete(request("b"))
    with pytest.raises(UnusedReplies, match="a 1"):
        llm.assert_done()
    llm.complete(request("a"))
    llm.assert_done()
    with pytest.raises(UnscriptedCall):
        llm.complete(request("a"))
