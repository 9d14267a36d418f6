"""A language model that follows a script: for tests.

    with ScriptedLLM({"analyse": [{"status": "known"}], "answer": ["not JSON at all", {...}]}) as llm:
        ...

A call that is not in the script fails, and so does a reply that was never asked for.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from fakes.numbered_sentences import sent
from iterative_rag.protocols import ChatReply, ChatRequest

Scripted = str | Mapping[str, Any] | list[Any] | ChatReply | Exception
Script = Scripted | Callable[[ChatRequest], Scripted]


class UnscriptedCall(AssertionError):
    """The model was called for a role that has no reply left."""


class UnusedReplies(AssertionError):
    """Replies of the script were never asked for."""


class ScriptedLLM:
    """Implements protocols.ChatModel; safe to use from several threads.

    `replies` maps each role to its replies in order: a string as it stands, a mapping or list as JSON, an exception
    to raise, or a function of the request that returns one of these. A role whose value is a single function
    answers all its calls with it, however many there are. `requests` records every call.
    """

    def __init__(
        self, replies: Mapping[str, Sequence[Script] | Callable[[ChatRequest], Scripted]], *, name: str = "scripted"
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._always = {role: given for role, given in replies.items() if callable(given)}
        self._queues = {role: deque(given) for role, given in replies.items() if not callable(given)}
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatReply:
        """The next reply of the request's role. Raises UnscriptedCall, or what the script says."""
        with self._lock:
            self.requests.append(request)
            script = self._next(request)
        # Outside the lock: a function may wait for other calls.
        reply = script(request) if callable(script) else script
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        text = sent(reply if isinstance(reply, str) else json.dumps(reply), request.user)
        return ChatReply(text, (len(request.system) + len(request.user)) // 4, max(1, len(text) // 4))

    def asked(self, role: str) -> list[ChatRequest]:
        """The requests made for `role` so far."""
        with self._lock:
            return [request for request in self.requests if request.role == role]

    def assert_done(self) -> None:
        """Raise UnusedReplies if the script holds more than was asked for."""
        with self._lock:
            left = {role: len(queue) for role, queue in self._queues.items() if queue}
        if left:
            raise UnusedReplies("unused replies: " + ", ".join(f"{role} {count}" for role, count in left.items()))

    def __enter__(self) -> ScriptedLLM:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.assert_done()

    def _next(self, request: ChatRequest) -> Script:
        if request.role in self._always:
            return self._always[request.role]
        queue = self._queues.get(request.role)
        if not queue:
            raise UnscriptedCall(f"call {len(self.requests)}: no reply scripted for {request.role!r}\n{request.user}")
        return queue.popleft()
