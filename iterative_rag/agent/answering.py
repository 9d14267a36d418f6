"""Answering by an LLM: the check against the original question, with a citation for every claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.agent.asking import Asker, numbered
from iterative_rag.replies.forms import AnswerReply
from iterative_rag.types import Draft, Fact, Inquiry

# The most that an answer is trusted which names no fact as its proof.
UNCITED_CONFIDENCE = 0.2
LAST_ATTEMPT = (
    "This is the last attempt: nothing more will be looked up. If the facts make one answer likely, give it as "
    '"answered" with a low confidence and say in "missing" what is unproved.'
)
MORE_TO_COME = 'If a value is missing, say "not_in_facts" and name it in "missing".'

_MARKER = re.compile(r"\s*[\[【](?:facts?\s*)?#?(\d{1,4}(?:\s*[,;–-]\s*#?\d{1,4})*)[\]】]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LLMAnswerer:
    """`room` is how many characters of facts a prompt may hold."""

    asker: Asker[AnswerReply]
    room: int

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False) -> Draft:
        """A draft whose markers are 1.. in order of first use. Without any fact it abstains and costs no call."""
        if not inquiry.facts:
            return Draft(answered=False, text="", missing=_nothing_found(inquiry))
        reply = self.asker.ask(
            lambda reply: _complaint(reply, len(inquiry.facts)),
            original=inquiry.original,
            question=inquiry.question,
            facts=numbered(inquiry.facts, self.room),
            attempt=LAST_ATTEMPT if last_attempt else MORE_TO_COME,
        )
        text, cited = renumbered(reply.answer, len(inquiry.facts))
        if reply.status == "answered":
            return _answered(reply, text, cited, inquiry.facts)
        missing = reply.missing or text or "The facts found do not settle it."
        if reply.status == "false_premise":
            missing = f"The question assumes something untrue: {missing}"
        return Draft(answered=False, text=text, cited=cited, missing=missing, confidence=reply.confidence)


def _answered(reply: AnswerReply, text: str, cited: tuple[int, ...], facts: Sequence[Fact]) -> Draft:
    text = text or reply.short_answer
    short = reply.short_answer or _MARKER.sub("", text).strip()
    confidence = reply.confidence
    if not cited:
        # The model was asked for markers twice. A fact that holds the answer proves it; without one it is a claim.
        cited = _holding(short, facts)
        text = text + "".join(f" [{n}]" for n in range(1, len(cited) + 1))
        confidence = min(confidence, 0.5 if cited else UNCITED_CONFIDENCE)
    missing = "" if cited else "No fact was named as the proof of this answer."
    return Draft(True, text, short, cited, missing or reply.missing, confidence)


def renumbered(text: str, count: int) -> tuple[str, tuple[int, ...]]:
    """`text` with its [n] renumbered 1.. in order of first use, and the positions (from 0) of the facts cited.

    "[1, 3]" becomes "[1][2]"; numbers outside 1..count are dropped.
    """
    order: dict[int, int] = {}

    def replaced(match: re.Match[str]) -> str:
        valid = [n for n in _numbers(match.group(1)) if 1 <= n <= count]
        marks = "".join(f"[{order.setdefault(n, len(order) + 1)}]" for n in dict.fromkeys(valid))
        return f" {marks}" if marks else ""

    return _MARKER.sub(replaced, text).strip(), tuple(n - 1 for n in order)


def _numbers(listed: str) -> list[int]:
    """ "1, 3-5" -> [1, 3, 4, 5]."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", listed):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        numbers.extend(range(first, last[-1] + 1) if last and last[-1] - first <= 50 else [first, *last])
    return numbers


def _complaint(reply: AnswerReply, count: int) -> str:
    if reply.status != "answered":
        return ""
    if not reply.short_answer:
        return 'the status is "answered", but "short_answer" is empty'
    if not renumbered(reply.answer, count)[1]:
        return f'"answer" cites no fact; put [n] after each claim, with n from 1 to {count}'
    return ""


def _holding(short: str, facts: Sequence[Fact]) -> tuple[int, ...]:
    """The first fact whose value or quote holds the short answer."""
    wanted = short.casefold().strip(" .")
    for place, fact in enumerate(facts):
        held = f"{fact.value} {fact.quote}".casefold()
        if wanted and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", held):
            return (place,)
    return ()


def _nothing_found(inquiry: Inquiry) -> str:
    looked = "; ".join(dict.fromkeys(need.question for need in inquiry.tried))
    return f"Nothing was found about: {looked}" if looked else "No fact was found."
