"""A model of eight billion parameters, played on top of a good one: some of its replies break a rule.

Which replies, and which rule, is decided by a hash of the seed and the request, so a run can be repeated, and a request
that is made again (with a complaint in it) is decided anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from iterative_rag.errors import ReplyTruncated
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest

Broken = str | None  # the text of a reply that breaks a rule; None where the rule does not apply to it

# What such a model believes about everything; it stands in no document of the suites.
BELIEF = "Ulrich Zwo"


class WeakModel:
    """Implements protocols.ChatModel. `share` of the replies of `model` break a rule; `broken` counts them by rule."""

    def __init__(self, model: ChatModel, *, share: float = 0.3, seed: int = 0) -> None:
        self._model, self._share, self._seed = model, share, seed
        self._lock = threading.Lock()
        self.broken: Counter[str] = Counter()
        self.calls = 0

    @property
    def name(self) -> str:
        return f"weak {self._model.name}"

    def complete(self, request: ChatRequest) -> ChatReply:
        """The reply of the good model, or what a weak one makes of it. Raises ReplyTruncated."""
        reply = self._model.complete(request)
        draw = _draw(self._seed, request.role, request.user)
        with self._lock:
            self.calls += 1
        if draw % 1000 >= 1000 * self._share or request.schema is None:
            return reply
        rules = [rule for rule in RULES if self._broken(rule, request, reply.text) is not None]
        rule = rules[draw // 1000 % len(rules)]
        with self._lock:
            self.broken[rule] += 1
        if rule == "cut off":
            error = ReplyTruncated("The reply was cut off (length).", hint="Raise reply_tokens.")
            error.retryable = False
            raise error
        return ChatReply(self._broken(rule, request, reply.text) or "", reply.prompt_tokens, reply.completion_tokens)

    def _broken(self, rule: str, request: ChatRequest, text: str) -> Broken:
        return RULES[rule](request.role, json.loads(text))


def _draw(seed: int, *parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\n".join((str(seed), *parts)).encode()).digest()[:8], "big")


# --- the rules that are broken ---------------------------------------------------------------


def _field_missing(role: str, reply: Mapping[str, Any]) -> Broken:
    """The last field that holds something is left out, in a list of objects in each of them."""
    kept = dict(reply)
    for name, value in kept.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            kept[name] = [{key: part for key, part in row.items() if key != list(row)[-1]} for row in value]
            return json.dumps(kept)
    held = [name for name, value in kept.items() if value not in ("", [], None)]
    kept.pop(held[-1] if held else list(kept)[-1])
    return json.dumps(kept)


def _half(role: str, reply: Mapping[str, Any]) -> Broken:
    text = json.dumps(reply)
    return text[: len(text) * 2 // 3]


def _cut_off(role: str, reply: Mapping[str, Any]) -> Broken:
    """The server says that the limit of tokens was reached: an error of the provider."""
    return ""


def _chatty(role: str, reply: Mapping[str, Any]) -> Broken:
    return f"Sure! Here it is {{as asked}}:\n\n{json.dumps(reply, indent=2)}\n\nLet me know if [anything] is unclear."


def _fenced(role: str, reply: Mapping[str, Any]) -> Broken:
    return f"```json\n{json.dumps(reply, indent=1)}\n```"


def _paraphrased(role: str, reply: Mapping[str, Any]) -> Broken:
    """Quotes in the model's own words, and the numbers of sentences beside those that say it."""
    if role == "agent":
        calls = [_with_quotes(call, lambda quote: f"The text says that {_reordered(quote)}") for call in reply["calls"]]
        return json.dumps({**reply, "calls": calls}) if calls != reply["calls"] else None
    if role != "extract" or not reply.get("facts"):
        return None
    facts = [{**fact, "sentences": [n + 1 for n in fact["sentences"]]} for fact in reply["facts"]]
    return json.dumps({**reply, "facts": facts})


def _own_knowledge(role: str, reply: Mapping[str, Any]) -> Broken:
    """What the model believes instead of what it was shown."""
    if role == "extract":
        believed = {
            "statement": f"It is well known that it was {BELIEF}.",
            "sentences": [1],
            "value": BELIEF,
        }
        return json.dumps({**reply, "facts": [believed]})
    if role == "answer":
        told = {"status": "answered", "answer": f"It is {BELIEF} [1].", "short_answer": BELIEF, "compute": []}
        return json.dumps({**reply, **told, "missing": "", "confidence": 0.95})
    if role == "write":
        told = {"status": "answered", "answer": f"It is well known that it was {BELIEF} [1].", "missing": ""}
        return json.dumps({**reply, **told, "confidence": 0.95})
    if role == "agent":
        return json.dumps({**reply, "calls": [_believed(reply["calls"])]})
    if role == "rephrase":
        return json.dumps({**reply, "question": f"{reply['question'].rstrip('?')} of {BELIEF}?"})
    return None


def _wrong_need(role: str, reply: Mapping[str, Any]) -> Broken:
    """Facts are given for a need with another number."""
    if role != "extract" or not any("need" in fact for fact in reply.get("facts", ())):
        return None
    return json.dumps({**reply, "facts": [{**fact, "need": [7]} for fact in reply["facts"]]})


def _stops_early(role: str, reply: Mapping[str, Any]) -> Broken:
    """The model is content before it has what it needs."""
    content: dict[str, dict[str, Any]] = {
        "analyse": {"status": "known", "needs": []},
        "rephrase_and_analyse": {"status": "known", "needs": []},
        "plan": {"done": True, "steps": []},
        "extract": {"facts": []},
    }
    if role == "agent":
        kept = [call for call in reply["calls"] if call["tool"] == "note"]
        return json.dumps({**reply, "calls": [*kept, {"tool": "submit", "missing": "what was asked"}]})
    return json.dumps({**reply, **content[role]}) if role in content else None


def _with_quotes(call: Mapping[str, Any], changed: Callable[[str], str]) -> Mapping[str, Any]:
    if not call.get("quotes"):
        return call
    return {**call, "quotes": [{**quoted, "quote": changed(quoted["quote"])} for quoted in call["quotes"]]}


def _believed(calls: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A submission of the model's belief, with whatever quotes it has seen; every other one as if it followed from
    them."""
    quotes = [quoted for call in calls for quoted in call.get("quotes", ())]
    told = {"answer": f"It is {BELIEF} [1].", "short_answer": BELIEF, "quotes": quotes, "confidence": 0.95}
    return {"tool": "submit", **told, "inferred": len(quotes) % 2 == 1}


def _reordered(quote: str) -> str:
    words = quote.rstrip(".").split()
    return " ".join([*words[len(words) // 2 :], *words[: len(words) // 2]])


RULES: dict[str, Callable[[str, Mapping[str, Any]], Broken]] = {
    "field missing": _field_missing,
    "JSON unfinished": _half,
    "cut off": _cut_off,
    "chatty": _chatty,
    "JSON in a fence": _fenced,
    "quote paraphrased": _paraphrased,
    "own knowledge": _own_knowledge,
    "wrong need number": _wrong_need,
    "stops early": _stops_early,
}
