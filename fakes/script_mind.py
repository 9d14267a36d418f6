"""A language model that follows scripts, and is honest about it.

It plays every role. It knows which quote proves which link of a chain, and nothing else: it quotes what stands in the
text that it is shown, plans and answers from the facts that stand in the prompt, takes the result of a computation from
the prompt, and never looks at the expected answer. A pipeline that loses a fact therefore loses the question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fakes.numbered_sentences import by_number
from fakes.script_roles import PLAYED, Reply, answer
from fakes.script_view import Link, Quoted, Script, View, filled, key, plain
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.llm.prompts import prompt, versions
from iterative_rag.protocols import ChatRequest

# --- the strategy `agent` --------------------------------------------------------------------------

MOST_QUERIES = 4


def drive(view: View) -> Mapping[str, Any]:
    """The calls of one turn: it searches for what is missing, in other words where the first ones brought nothing,
    notes the quotes that the results hold, has a computation carried out, and submits when nothing is left to try."""
    log, _, results = view.user.partition("EARLIER CALLS:")[2].partition("RESULTS:")
    fresh = list(_fresh(view, results))
    for _, quoted in fresh:  # markers count the facts first and then the quotes of the submission
        view.lines.append((len(view.lines) + 1, plain(quoted.quote)))
    quotes = [
        {
            "title": _title(results, quoted.quote),
            "quote": quoted.quote,
            "question": view.need(link),
            "value": "" if link.rows else quoted.value,
        }
        for link, quoted in fresh
    ]
    note: list[Mapping[str, Any]] = [{"tool": "note", "quotes": quotes}] if quotes else []
    if all(map(view.found, view.links)):
        told = answer(view)
        if told["status"] == "compute":
            asked = told["compute"][0]
            return _turn(*note, {"tool": "calculate", "expression": asked["expression"], "facts": asked["facts"]})
        return _turn(_submission(told, quotes))
    queries = list(_queries(view, key(log + results)))[:MOST_QUERIES]
    if queries:
        return _turn(*note, {"tool": "search", "queries": queries})
    return _turn(_submission({"missing": " ".join(view.missing()) or view.script.question}, quotes))


def _fresh(view: View, results: str) -> Iterator[tuple[Link, Quoted]]:
    """What the results show and no fact holds yet."""
    shown = plain(results)
    for link in view.links:
        for quoted in link.facts:
            if not view.number(quoted) and plain(quoted.quote) in shown:
                yield link, quoted


def _queries(view: View, searched: str) -> Iterator[str]:
    """For each missing link the first of its wordings that was not searched for yet."""
    for link in view.links:
        if view.found(link) or not (need := view.need(link)):
            continue
        wordings = [need, *(filled(text, view.values()) for text in link.rewordings)]
        if (query := next((one for one in wordings if key(one) not in searched), None)) is not None:
            yield query


def _title(results: str, quote: str) -> str:
    """The title above a quote in the results."""
    before = results.partition(quote)[0]
    titles = re.findall(r"^# (.+)$", before, re.MULTILINE)
    return titles[-1] if titles else ""


def _submission(told: Mapping[str, Any], quotes: list[dict[str, str]]) -> Mapping[str, Any]:
    answered = told.get("status") == "answered"
    return {
        "tool": "submit",
        "answer": told["answer"] if answered else "",
        "short_answer": told["short_answer"] if answered else "",
        "quotes": quotes,
        "missing": told["missing"],
        "confidence": told.get("confidence", 0.0),
    }


def _turn(*calls: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"thought": "So far, so good.", "calls": list(calls)}


# --- the model -----------------------------------------------------------------------------------


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
        """The reply to a request of Ollama's or OpenAI's protocol."""
        return json.dumps(self.played(request_of(body)) if role_of(body) in PLAYS else {})

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
