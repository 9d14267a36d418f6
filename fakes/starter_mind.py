"""A model that knows how the README's question is taken apart, and nothing else: what it states it has been shown.

It answers the prompts of this package, of LlamaIndex's multi-step and sub-question engines and of paper-qa from the
same four steps, so that their calls can be counted side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakes.readme_question import QUESTION
from fakes.readme_question import SHORT_ANSWER as ANSWER
from iterative_rag.llm.prompts import prompt, versions

_ROLES = {prompt(role).system[:60]: role for role in versions()}


@dataclass(frozen=True, slots=True)
class KnownStep:
    """A look-up: its question, the quotes that answer it in the starter corpus, and the step that has to be known
    before (`after`, a position in STEPS).

    `apart` is the question for an engine that cannot put an earlier answer into it.
    """

    question: str
    title: str
    quotes: tuple[str, ...]
    statement: str
    value: str
    apart: str
    after: int | None = None

    def stands_in(self, text: str) -> bool:
        return any(one in text for one in (*self.quotes, self.statement))


STEPS = (
    KnownStep(
        "Who is the 15th first lady of the United States?",
        "Harriet Lane",
        (
            "| Role | Acting first lady of the United States, counted as the 15th |",
            "she is counted as the 15th first lady of the United States",
        ),
        "The 15th first lady of the United States is Harriet Lane.",
        "Harriet Lane",
        "Who is the 15th first lady of the United States?",
    ),
    KnownStep(
        "Who was the second assassinated president of the United States?",
        "James A. Garfield",
        ("He was the second American president to be assassinated, sixteen years after Abraham Lincoln.",),
        "The second assassinated president is James A. Garfield.",
        "James A. Garfield",
        "Who was the second assassinated president of the United States?",
    ),
    KnownStep(
        "Who was the mother of Harriet Lane?",
        "Harriet Lane",
        ("| Mother | Jane Ann Elliott Buchanan Lane |",),
        "The mother of Harriet Lane is Jane Ann Elliott Buchanan Lane.",
        "Jane Ann Elliott Buchanan Lane",
        "Who was the mother of the 15th first lady of the United States?",
        after=0,
    ),
    KnownStep(
        "What was the maiden name of James A. Garfield's mother?",
        "James A. Garfield",
        ("| Mother | Eliza Ballou |",),
        "The mother of James A. Garfield is Eliza Ballou.",
        "Eliza Ballou",
        "What was the maiden name of the second assassinated president's mother?",
        after=1,
    ),
)


def reply(body: Mapping[str, Any]) -> str:
    """The reply to a chat request in OpenAI's form, whoever asks."""
    system, user = _parts(body)
    role = _ROLES.get(system[:60])
    if role:
        return json.dumps(_of_role(role, user))
    if "The original question is as follows" in user:  # MultiStepQueryEngine
        return next((step.question for step in _missing(user.rpartition("Previous reasoning")[2])), "None")
    if "<User Question>" in user:  # SubQuestionQueryEngine
        items = [{"sub_question": step.apart, "tool_name": "corpus"} for step in STEPS]
        return "```json\n" + json.dumps({"items": items}) + "\n```"
    if "relevance_score" in system:  # paper-qa, one excerpt
        held = [step.statement for step in STEPS if step.stands_in(user)]
        return json.dumps({"summary": " ".join(held), "relevance_score": 9 if held else 0})
    return _answered(user)


def functions(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The calls of a model with function calling: the strategy `agent`."""
    calls = _calls(_parts(body)[1])
    return [{"name": one["tool"], "arguments": {k: v for k, v in one.items() if k != "tool"}} for one in calls]


def _parts(body: Mapping[str, Any]) -> tuple[str, str]:
    said: dict[str, str] = {"system": "", "user": ""}
    for message in body["messages"]:
        content = message["content"]
        text = content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
        said[message["role"] if message["role"] in said else "user"] += text
    return said["system"], said["user"]


def _missing(text: str) -> list[KnownStep]:
    """The steps that can be taken now: not known yet, and what they rest on is."""
    known = [step.stands_in(text) for step in STEPS]
    return [
        step for step, has in zip(STEPS, known, strict=True) if not has and (step.after is None or known[step.after])
    ]


def _answered(user: str) -> str:
    """The answer to the last question in a prompt that holds its context."""
    asked = user.rpartition("Query:")[2] or user
    for step in STEPS:
        if step.question in asked or step.apart in asked:
            return step.statement if step.stands_in(user) else "The context does not say."
    if all(step.stands_in(user) for step in STEPS):
        return " ".join(step.statement for step in STEPS) + f" Her name is {ANSWER}."
    return "I cannot answer: the context does not hold all that is needed."


# --- the roles of this package ---------------------------------------------------------------


def _of_role(role: str, user: str) -> dict[str, Any]:
    facts = user.partition("FACTS:")[2].partition("CURRENT QUESTION:")[0]
    missing = _missing(facts)
    status = {"status": "needs" if missing else "known", "needs": [step.question for step in missing]}
    last = {"last": bool(missing) and sum(not step.stands_in(facts) for step in STEPS) == len(missing)}
    match role:
        case "analyse":
            return {**status, **last}
        case "rephrase_and_analyse":
            return {"question": _rephrased(facts), **status, **last}
        case "rephrase":
            return {"question": _rephrased(facts)}
        case "extract":
            return {"facts": _extracted(user)}
        case "answer":
            return _submission(_numbers(facts), facts)
        case "plan":
            planned = _missing(user.partition("FACTS:")[2])
            return {"done": not planned, "steps": [{"question": step.question} for step in planned]}
        case "suffice":
            return {"enough": not missing, "gap": missing[0].question if missing else ""}
        case "reword":
            return {"phrasings": ["first lady", "assassinated president", "maiden name of the mother"]}
        case "grade":
            numbers = re.findall(r"<document (\d+) \w+>(.*?)</document", user, re.DOTALL)
            good = [any(step.stands_in(text) for step in STEPS) for _, text in numbers]
            labels = ["Perfect" if held else "Awful" for held in good]
            return {"grades": [{"n": int(n), "label": one} for (n, _), one in zip(numbers, labels, strict=True)]}
        case "reflect":
            claims = re.findall(r"^(\d+)\. ", user.partition("CLAIMS:")[2], re.MULTILINE)
            return {"claims": [{"n": int(n), "verdict": "grounded"} for n in claims], "useful": True}
        case "agent":
            return {"calls": _calls(user)}
        case _:
            raise AssertionError(f"the role {role} is not played here")


def _rephrased(facts: str) -> str:
    parts = (
        ("the 15th first lady of the United States' mother", "Harriet Lane's mother"),
        ("the second assassinated president's mother's maiden name", "James A. Garfield's mother's maiden name"),
    )
    question = QUESTION
    for step, (description, name) in zip(STEPS, parts, strict=False):
        question = question.replace(description, name) if step.stands_in(facts) else question
    return question


def _extracted(user: str) -> list[dict[str, Any]]:
    """Every known quote that the documents hold, for the need that asks for it, else for the whole question."""
    asked = [(int(n), text) for n, text in re.findall(r"QUESTION \(?(\d+)\)?: (.*)", user)]
    whole = max((n for n, _ in asked), default=1)
    found = []
    for step in STEPS:
        number = next((n for n, text in asked if text.rstrip(" ?") == step.question.rstrip(" ?")), None)
        for quote in step.quotes[:1] if step.quotes[0] in user else step.quotes[1:]:
            if quote in user:
                value = step.value if number else ""
                held = {"statement": step.statement, "quote": quote, "value": value}
                found.append({**held, "need": [number or whole]})
    return found


def _numbers(facts: str) -> list[int | None]:
    """The number of the fact for each step, None where it is missing."""
    lines = re.findall(r"^\[(\d+)\](.*)$", facts, re.MULTILINE)
    return [next((int(n) for n, line in lines if step.stands_in(line)), None) for step in STEPS]


def _submission(numbers: Sequence[int | None], facts: str) -> dict[str, Any]:
    if None in numbers:
        return {"status": "not_in_facts", "missing": _missing(facts)[0].question if _missing(facts) else "a fact"}
    # Of the chain it cites the ends alone, as real models do.
    text = f"Her name would be {ANSWER} [{numbers[2]}][{numbers[3]}]."
    return {"status": "answered", "answer": text, "short_answer": ANSWER, "confidence": 0.9}


def _calls(user: str) -> list[dict[str, Any]]:
    """Notes what the results hold, and searches for what is missing; submits as soon as all is there."""
    facts, _, rest = user.partition("FACTS:")[2].partition("EARLIER CALLS:")
    results = rest.partition("RESULTS:")[2]
    seen = [step for step in STEPS if not step.stands_in(facts) and any(one in results for one in step.quotes)]
    quotes = [
        {
            "title": step.title,
            "quote": next(one for one in step.quotes if one in results),
            "question": step.question,
            "value": step.value,
        }
        for step in seen
    ]
    missing = _missing(facts + results)
    if not missing:
        noted = len(re.findall(r"^\[\d+\]", facts, re.MULTILINE))
        numbers = [seen.index(step) + 1 + noted if step in seen else number for step, number in _with_numbers(facts)]
        return [{"tool": "submit", **_submission(numbers, facts), "quotes": quotes}]
    calls: list[dict[str, Any]] = [{"tool": "note", "quotes": quotes}] if quotes else []
    return [*calls, {"tool": "search", "queries": [step.question for step in missing]}]


def _with_numbers(facts: str) -> list[tuple[KnownStep, int | None]]:
    return list(zip(STEPS, _numbers(facts), strict=True))
