"""A mechanical mind over the decompositions of a dataset: it plans, reads, rephrases and answers without a model.

It knows the sub-questions and their answers from the rows that it is given, so it measures what the loop around a mind
costs, never how good a mind is. It says only what stands in the prompt: a sub-question is found when the sentence that
answers it stands among the facts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.text.sentences import sentences

_ASKED = re.compile(r"^(WHOLE )?QUESTION(?: \(?(\d+)\)?)?: (.*)$", re.MULTILINE)
_FACT = re.compile(r"^\[(\d+)\](.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """A sub-question with its answer, and the sentence that says so; `#1` in it stands for the first answer."""

    question: str
    answer: str
    title: str
    sentence: str

    def asked(self, answers: Sequence[str]) -> str:
        """The sub-question as a need, with earlier answers put in."""
        text = re.sub(r"#(\d+)", lambda match: answers[int(match[1]) - 1], self.question)
        subject, marker, relation = text.partition(" >> ")
        text = f"What is the {relation} of {subject}?" if marker else text
        return text[0].upper() + text[1:]

    @property
    def after(self) -> set[int]:
        """The positions of the links that have to be found before."""
        return {int(number) - 1 for number in re.findall(r"#(\d+)", self.question)}


@dataclass(frozen=True)
class Chain:
    """One question of the dataset."""

    question: str
    answer: str
    links: tuple[Link, ...]

    @property
    def needs(self) -> list[str]:
        answers = [link.answer for link in self.links]
        return [link.asked(answers) for link in self.links]

    def found(self, facts: str) -> list[bool]:
        plain = _plain(facts)
        return [_plain(link.sentence) in plain for link in self.links]


def chains(rows: Sequence[Mapping[str, Any]]) -> list[Chain]:
    """The rows of a MuSiQue file whose supporting paragraphs all say their answers word for word."""
    made = []
    for row in rows:
        links = [link for part in row["decomposition"] if (link := _link(part, row["paragraphs"]))]
        if len(links) == len(row["decomposition"]):
            made.append(Chain(row["question"], row["answer"], tuple(links)))
    return made


def _link(part: Mapping[str, str], paragraphs: Sequence[Mapping[str, Any]]) -> Link | None:
    for one in paragraphs:
        if one["supporting"] and one["title"] == part["paragraph"]:
            for sentence in sentences(one["text"]):
                if part["answer"].casefold() in sentence.casefold():
                    return Link(part["question"], part["answer"], one["title"], sentence.strip())
    return None


@dataclass
class DecompositionMind:
    """Implements protocols.ChatModel; counts its calls, tokens and empty extractions."""

    chains: Sequence[Chain]
    name: str = "decomposition-mind"
    calls: Counter[str] = field(default_factory=Counter)
    empty: int = 0
    prompt_tokens: int = 0

    def complete(self, request: ChatRequest) -> ChatReply:
        said = self._said(request)
        self.calls[request.role] += 1
        self.empty += request.role == "extract" and not said["facts"]
        tokens = (len(request.system) + len(request.user)) // 4
        self.prompt_tokens += tokens
        text = json.dumps(said)
        return ChatReply(text, tokens, len(text) // 4)

    def _said(self, request: ChatRequest) -> dict[str, Any]:
        if request.role == "extract":
            return {"facts": list(self._facts(request.user))}
        chain = self._chain(request.user)
        found = chain.found(request.user)
        match request.role:
            case "answer":
                return self._answer(chain, request.user)
            case "rephrase":
                return {"question": self._current(request.user)}
            case "analyse":
                return self._analysis(chain, found)
            case "rephrase_and_analyse":
                return {"question": self._current(request.user), **self._analysis(chain, found)}
            case _:
                raise AssertionError(f"the mind plays no {request.role}")

    def _analysis(self, chain: Chain, found: Sequence[bool]) -> dict[str, Any]:
        if found[-1]:
            return {"reason": "", "status": "known", "needs": [], "last": False}
        held = {n for n, is_found in enumerate(found) if is_found}
        open_ = [n for n, link in enumerate(chain.links) if n not in held and link.after <= held]
        last = len(held) + len(open_) == len(chain.links)
        return {"reason": "", "status": "needs", "needs": [chain.needs[n] for n in open_], "last": last}

    def _answer(self, chain: Chain, user: str) -> dict[str, Any]:
        reply = {"working": "", "compute": [], "answer": "", "short_answer": "", "missing": "a link", "confidence": 0.1}
        sentence = _plain(chain.links[-1].sentence)
        number = next((n for n, line in _FACT.findall(user) if sentence in _plain(line)), "")
        if not number:
            return {**reply, "status": "not_in_facts"}
        value = chain.links[-1].answer
        said = {"answer": f"It is {value} [{number}].", "short_answer": value, "confidence": 0.9}
        return {**reply, **said, "status": "answered"}

    def _facts(self, user: str) -> Iterator[dict[str, Any]]:
        """The sentences of the windows that answer a need, and those that another part of the whole question needs."""
        asked = [(int(number or 1), bool(whole), text) for whole, number, text in _ASKED.findall(user)]
        documents = _plain(user[: user.rindex("QUESTION 1: " if "QUESTION 1: " in user else "QUESTION: ")])
        for number, whole, text in asked:
            for chain in self.chains:
                for need, link in zip(chain.needs, chain.links, strict=True):
                    serves = _key(chain.question) == _key(text) if whole else _key(need) == _key(text)
                    if serves and _plain(link.sentence) in documents:
                        value = "" if whole else link.answer
                        quote = {"statement": link.sentence, "quote": link.sentence}
                        yield {**quote, "need": [number], "value": value}

    def _chain(self, user: str) -> Chain:
        original = re.search(r"^ORIGINAL QUESTION: (.*)$", user, re.MULTILINE)
        assert original is not None
        return next(one for one in self.chains if _key(one.question) == _key(original[1]))

    def _current(self, user: str) -> str:
        current = re.search(r"^CURRENT QUESTION: (.*)$", user, re.MULTILINE)
        return current[1] if current else ""


def _key(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.")


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
