"""A model that knows what the forty follow-ups mean and what answers them, and states only what it has been shown.

It plays the roles that a follow-up needs, so that the tokens of a follow-up can be counted without a server. Tokens are
estimated at four characters each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fakes.follow_up_cases import CONVERSATIONS
from iterative_rag.protocols import ChatReply, ChatRequest

CHARS_PER_TOKEN = 4
# Questions that take more than one look-up.
_SEVERAL = ("how old", "is mount", "husband")
_DOCUMENT = re.compile(r"<document \w+>\nTitle: (?P<title>.+?)\n\n(?P<text>.*?)\n</document", re.DOTALL)
_FACT = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_NOTHING = {"answer": "", "short_answer": "", "confidence": 0.9}


class FollowUpMind:
    """Implements protocols.ChatModel."""

    name = "follow-up-mind"

    def __init__(self) -> None:
        self._answers = dict(_questions())
        self._meant = {
            (before, case.asked): case.meant[0] if case.meant else "" for before, case in _with_question_before()
        }

    def complete(self, request: ChatRequest) -> ChatReply:
        said = json.dumps(getattr(self, f"_{request.role}")(request.user), ensure_ascii=False)
        shown = len(request.system) + len(request.user)
        return ChatReply(said, shown // CHARS_PER_TOKEN, len(said) // CHARS_PER_TOKEN)

    def _follow_up(self, user: str) -> Mapping[str, Any]:
        before = re.findall(r"^Q: (.*?) A: ", user, re.MULTILINE)[-1]
        asked = _line_after("FOLLOW-UP: ", user)
        question = self._meant[before, asked]
        if not question:
            return {"question": asked, "status": "unclear", "unclear": "It asks nothing."}
        if said := self._from_facts(question, user):
            return {"question": question, **said}
        single = not any(words in question.casefold() for words in _SEVERAL)
        return {"question": question, "status": "search", "single": single, **_NOTHING}

    def _analyse(self, user: str) -> Mapping[str, Any]:
        question = _line_after("ORIGINAL QUESTION: ", user)
        if self._from_facts(question, user):
            return {"reason": "All is found.", "status": "known", "needs": []}
        if f"- {question}" in user:
            return {"reason": "It was looked for.", "status": "stuck", "needs": []}
        return {"reason": "It is one look-up.", "status": "needs", "needs": [question], "last": True}

    def _rephrase_and_analyse(self, user: str) -> Mapping[str, Any]:
        return {**self._analyse(user), "question": _line_after("ORIGINAL QUESTION: ", user)}

    def _extract(self, user: str) -> Mapping[str, Any]:
        question = re.findall(r"^(?:WHOLE )?QUESTION[^:]*: (.*)$", user, re.MULTILINE)[0]
        asked = next((one for one in self._answers if one.rstrip("?") == question.rstrip("?")), question)
        answer = self._answers.get(asked, "")
        for document in _DOCUMENT.finditer(user):
            if answer and _words(document["title"]) & _words(asked):
                for sentence in re.split(r"(?<=[.!?])\s+|\n", document["text"]):
                    if _holds(sentence, answer):
                        statement = f"{asked[0].lower()}{asked[1:].rstrip('?')}: the article says that it is {answer}."
                        return {"facts": [{"statement": statement, "quote": sentence, "need": [1], "value": answer}]}
        return {"facts": []}

    def _answer(self, user: str) -> Mapping[str, Any]:
        said = self._from_facts(_line_after("ORIGINAL QUESTION: ", user), user)
        working = {"working": "The fact says it.", "compute": [], "also": [], "caveats": []}
        return {**working, **(said or {"status": "not_in_facts", "missing": "No fact says it.", **_NOTHING})}

    def _from_facts(self, question: str, user: str) -> Mapping[str, Any] | None:
        """An answer, where a fact that speaks of the subject of the question holds it."""
        answer = self._answers.get(question, "")
        for number, fact in _FACT.findall(user):
            if answer and _holds(fact, answer) and _words(question) & _words(fact):
                told = {"answer": f"The answer is {answer} [{number}].", "short_answer": answer, "confidence": 0.9}
                return {"status": "answered", "single": False, **told}
        return None


def _questions() -> Iterator[tuple[str, str]]:
    for conversation in CONVERSATIONS:
        yield conversation.question, conversation.answer
        for case in conversation.cases:
            yield from ((one, case.answer) for one in case.meant[:1])


def _with_question_before() -> Iterator[tuple[str, Any]]:
    for conversation in CONVERSATIONS:
        before = conversation.question
        for case in conversation.cases:
            yield before, case
            before = case.meant[0] if case.meant else before


def _line_after(label: str, text: str) -> str:
    return text.partition(label)[2].partition("\n")[0].strip()


def _words(text: str) -> set[str]:
    """The names in a text: words with a capital that do not begin it."""
    first = {text.split(" ")[0]} - {"Who", "When", "Where", "Which", "How", "What", "Why", "Is", "In"}
    return first | set(re.findall(r"(?<!^)\b[A-Z]\w{3,}", text))


def _holds(text: str, answer: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE) is not None
