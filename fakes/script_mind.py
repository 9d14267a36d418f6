"""A language model that follows scripts, and is honest about it.

It plays every role. It knows which quote proves which link of a chain, and nothing else: it quotes what stands in the
text that it is shown, plans and answers from the facts that stand in the prompt, takes the result of a computation from
the prompt, and never looks at the expected answer. A pipeline that loses a fact therefore loses the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fakes.numbered_sentences import by_number
from fakes.script_agent import drive
from fakes.script_roles import PLAYED, Reply
from fakes.script_view import Script, View
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.llm.prompts import prompt, versions
from iterative_rag.protocols import ChatRequest

PLAYS: dict[str, Callable[[View], Reply]] = {**PLAYED, "agent": drive}
_ROLES = {prompt(role).system[:60]: role for role in versions()}


class ScriptMind:
    """One model for the questions of its scripts; `llm` plays it in the process, `reply` behind a server."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts: Sequence[Script] = scripts
        self.llm = ScriptedLLM(dict.fromkeys(PLAYS, self.played), name="script-following")

    def played(self, request: ChatRequest) -> Reply:
        script = script_of(self.scripts, request)
        assert script is not None, f"no script is for this prompt: {request.user[-300:]}"
        return by_number(PLAYS[request.role](View(script, request)), request.user)

    def reply(self, body: Mapping[str, Any]) -> str:
        """The reply to a request of Ollama's or OpenAI's protocol: JSON where a schema came with it, else lines."""
        made = self.played(request_of(body)) if role_of(body) in PLAYS else {}
        return json.dumps(made) if body.get("format") or body.get("response_format") else as_lines(made)

    def functions(self, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The calls of a model with function calling: the strategy `agent`."""
        calls = self.played(request_of(body))["calls"]
        return [{"name": call["tool"], "arguments": {k: v for k, v in call.items() if k != "tool"}} for call in calls]


def script_of(scripts: Iterable[Script], request: ChatRequest) -> Script | None:
    """The script whose question stands in the prompt, else one with a link that is asked for."""
    known = list(scripts)
    if len(known) == 1:
        return known[0]
    for script in known:
        if script.question.rstrip("?") in request.user.rpartition("QUESTION")[2] or script.question in request.user:
            return script
    views = [View(script, request) for script in known]
    return next((view.script for view in views if len(view.wanted()) < len(view.links)), None)


# --- requests of a chat server ---------------------------------------------------------------


def role_of(body: Mapping[str, Any]) -> str:
    """The role that a request of a chat server asks for, by its system prompt; "" for none of the package's."""
    return _ROLES.get(_prompt(body, system=True)[:60], "")


def user_prompt(body: Mapping[str, Any]) -> str:
    return _prompt(body, system=False)


def request_of(body: Mapping[str, Any]) -> ChatRequest:
    """The request as the package made it, without the complaint of a retry."""
    user = user_prompt(body).partition("\n\nYour last reply")[0]
    return ChatRequest(role_of(body), _prompt(body, system=True), user)


def _prompt(body: Mapping[str, Any], *, system: bool) -> str:
    said = (message["content"] for message in body["messages"] if (message["role"] == "system") is system)
    return "\n".join(said)


def as_lines(made: Mapping[str, Any]) -> str:
    """A reply as plain `field: value` lines."""
    lines = []
    for name, value in made.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                lines += [f"{key}: {_plain(part)}" for key, part in item.items()]
            else:
                lines.append(f"{name}: {_plain(item)}")
        if value == []:
            lines.append(f"{name}: none")
    return "\n".join([*lines, "end"])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
