"""A made-up world of bridges, towns and mayors, two-hop questions over it, and a model that plays every role.

The model is honest: what it says it takes from the prompt that it is shown. It replies in JSON, or in the plain lines
that a prompt asks for; faults are put on top by whoever serves it (`fakes/model_server.py`, `fakes/broken_replies.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.llm.prompts import prompt, versions

_FIRST = [
    "Al", "Ber", "Cor", "Dun", "El", "Far", "Gol", "Har", "Il", "Jor", "Kel", "Lum", "Mor", "Nel", "Or", "Pel",
    "Quil", "Ros", "Sel", "Tor",
]  # fmt: skip
_SECOND = ["ba", "den", "fi", "gar", "lo", "mi", "na", "po", "ri", "tu"]
_BRIDGE = re.compile(r"The (\w+) bridge is a stone bridge in (\w+)\.")
_MAYOR = re.compile(r"The mayor of (\w+) is (\w+ \w+)\.")
_ROLES = {prompt(role).system[:60]: role for role in versions()}


@dataclass(frozen=True)
class Place:
    """A bridge, the town where it stands, and the town's mayor."""

    bridge: str
    town: str
    mayor: str

    @property
    def two_hops(self) -> str:
        return f"Who is the mayor of the town where the {self.bridge} bridge stands?"

    @property
    def one_hop(self) -> str:
        return f"Who is the mayor of {self.town}?"


def places(count: int) -> list[Place]:
    """The first `count` places (200 at most), no name twice."""
    names = [first + second for second in _SECOND for first in _FIRST]
    return [Place(f"{name}sk", f"{name}mere", f"Edda {name}holm") for name in names[:count]]


def write_articles(folder: Path, world: list[Place]) -> None:
    folder.mkdir(parents=True)
    for place in world:
        bridge = f"# {place.bridge} bridge\n\nThe {place.bridge} bridge is a stone bridge in {place.town}. It is old.\n"
        town = f"# {place.town}\n\n{place.town} is a market town. The mayor of {place.town} is {place.mayor}.\n"
        (folder / f"{place.bridge}_bridge.md").write_text(bridge, encoding="utf-8")
        (folder / f"{place.town}.md").write_text(town, encoding="utf-8")


def write_questions(path: Path, world: list[Place]) -> None:
    """A dataset of the two-hop questions: `q0`, `q1` … in the order of `world`."""
    rows = [
        {
            "id": f"q{n}",
            "question": place.two_hops,
            "answer": place.mayor,
            "gold_titles": [f"{place.bridge} bridge", place.town],
            "expected_steps": [place.town, place.mayor],
        }
        for n, place in enumerate(world)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# --- the model -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What a prompt shows: who is asked about, and what is known of it."""

    user: str

    @property
    def facts(self) -> str:
        """The facts of the prompt, or all of it where they are not fenced (documents)."""
        fenced = re.findall(r"<facts (\w+)>\n(.*?)\n</facts \1>", self.user, re.DOTALL)
        return "\n".join(text for _, text in fenced)

    @property
    def question(self) -> str:
        return next(iter(re.findall(r"^(?:ORIGINAL )?QUESTION: (.*)$", self.user, re.MULTILINE)), "")

    @property
    def town(self) -> str:
        """The town whose mayor is asked for; "" as long as it is not known."""
        if bridge := re.search(r"where the (\w+) bridge stands", self.question):
            return str(dict(_BRIDGE.findall(self.facts)).get(bridge[1], ""))
        named = re.search(r"mayor of (\w+)", self.question)
        return named[1] if named else ""

    @property
    def mayor(self) -> str:
        return str(dict(_MAYOR.findall(self.facts)).get(self.town, ""))

    @property
    def need(self) -> str:
        """The next look-up; "" when all is known."""
        if self.mayor:
            return ""
        if self.town:
            return f"Who is the mayor of {self.town}?"
        bridge = re.search(r"where the (\w+) bridge stands", self.question)
        return f"In which town does the {bridge[1]} bridge stand?" if bridge else self.question


def _analyse(seen: Seen) -> Mapping[str, Any]:
    needs = [seen.need] if seen.need else []
    return {"reason": "", "status": "needs" if needs else "known", "needs": needs}


def _extract(seen: Seen) -> Mapping[str, Any]:
    document, _, needs = seen.user.partition("QUESTION 1: ")
    found = [*_BRIDGE.finditer(document), *_MAYOR.finditer(document)]
    facts = [
        {"statement": one[0], "quote": one[0], "value": one[2], "need": n}
        for n, need in enumerate(re.split(r"^(?:WHOLE )?QUESTION.*: ", needs, flags=re.MULTILINE), start=1)
        for one in found
        if re.search(one[1], need)
    ]
    return {"facts": facts}


def _rephrase(seen: Seen) -> Mapping[str, Any]:
    return {"question": f"Who is the mayor of {seen.town}?" if seen.town else seen.question}


def _rephrase_and_analyse(seen: Seen) -> Mapping[str, Any]:
    return {**_analyse(seen), **_rephrase(seen)}


def _answer(seen: Seen) -> Mapping[str, Any]:
    reply = {"working": "", "compute": [], "status": "not_in_facts", "answer": "", "short_answer": ""}
    if not seen.mayor:
        return {**reply, "missing": seen.need, "confidence": 0.1}
    number = next(iter(re.findall(rf"^\[(\d+)\].*{seen.mayor}", seen.facts, re.MULTILINE)), "1")
    said = {"status": "answered", "answer": f"It is {seen.mayor} [{number}].", "short_answer": seen.mayor}
    return {**reply, **said, "missing": "", "confidence": 0.9}


def _grade(seen: Seen) -> Mapping[str, Any]:
    numbers = re.findall(r"^<document (\d+) ", seen.user, re.MULTILINE)
    return {"grades": [{"n": int(n), "reason": "", "label": "Good"} for n in numbers]}


def _plan(seen: Seen) -> Mapping[str, Any]:
    steps = [{"question": seen.need, "purpose": ""}] if seen.need else []
    return {"reason": "", "done": not steps, "steps": steps}


def _suffice(seen: Seen) -> Mapping[str, Any]:
    return {"reason": "", "enough": not seen.need, "gap": seen.need}


def _reflect(seen: Seen) -> Mapping[str, Any]:
    numbers = re.findall(r"^(\d+)\. .*\(", seen.user, re.MULTILINE)
    claims = [{"n": int(n), "verdict": "grounded", "facts": [1], "why": ""} for n in numbers]
    return {"reason": "", "claims": claims, "useful": True, "refusal": False, "false_premise": "", "gap": ""}


def _reword(seen: Seen) -> Mapping[str, Any]:
    return {
        "phrasings": [f"town hall {len(seen.user)}", "stone bridge", "head of a town"],
        "broader": "",
        "passage": "",
    }


_PLAYS: Mapping[str, Callable[[Seen], Mapping[str, Any]]] = {
    "analyse": _analyse,
    "extract": _extract,
    "rephrase": _rephrase,
    "rephrase_and_analyse": _rephrase_and_analyse,
    "answer": _answer,
    "grade": _grade,
    "plan": _plan,
    "suffice": _suffice,
    "reflect": _reflect,
    "reword": _reword,
}


def role_of(body: Mapping[str, Any]) -> str:
    """The role that a request of a chat server asks for, by its system prompt; "" for none of the package's."""
    system = next((message["content"] for message in body["messages"] if message["role"] == "system"), "")
    return _ROLES.get(system[:60], "")


def user_prompt(body: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"] if message["role"] != "system")


def reply(body: Mapping[str, Any]) -> str:
    """The honest reply to a request of Ollama's or OpenAI's protocol: JSON where a schema came with it."""
    role = role_of(body)
    made = _PLAYS[role](Seen(user_prompt(body))) if role in _PLAYS else {}
    return json.dumps(made) if body.get("format") or body.get("response_format") else as_lines(made)


def as_lines(made: Mapping[str, Any]) -> str:
    """A reply as plain `field: value` lines."""
    lines = []
    for name, value in made.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                lines += [f"{key}: {_plain(part)}" for key, part in one.items()]
            else:
                lines.append(f"{name}: {_plain(one)}")
        if value == []:
            lines.append(f"{name}: none")
    return "\n".join([*lines, "end"])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
