"""Answers of a scripted LLM about invented worlds, from quoted facts; in 30 % of them a claim that no fact supports.

The templates are data in `evaluation/groundedness/`: the rule may be tuned on `tuning.toml`; `held.toml` was written
before and left alone.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fakes.scripted_llm import ScriptedLLM
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.replies.forms import AnswerReply
from iterative_rag.llm.roles.answerer import LLMAnswerer
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace
from iterative_rag.text.languages import month_name
from iterative_rag.types import Claim, Computation, Draft, Fact, Inquiry, Need

ADDED = 0.3
FOLDER = Path(__file__).resolve().parents[1] / "evaluation" / "groundedness"
FIRST = [
    "Oda", "Lenn", "Mira", "Tobin", "Karel", "Ysolde", "Bram", "Edda", "Silvan", "Nerea", "Jorun", "Pavel", "Ruth",
    "Anselm", "Ilka", "Doran",
]  # fmt: skip
LAST = [
    "Brenk", "Holm", "Vasse", "Kestrel", "Tamm", "Orrin", "Dalgaard", "Quent", "Marlow", "Zeisig", "Fenwick",
    "Rovere", "Sandoz", "Illing",
]  # fmt: skip
START = ["Vel", "Or", "Kar", "Mar", "Tes", "Bru", "Lin", "Dor", "Sel", "Gan", "Hal", "Wen", "Pra", "Zor", "Nim"]
MIDDLE = ["mo", "ra", "sti", "le", "da", "vi", "no", "ka", "be", "ro"]
END = ["ra", "ne", "ta", "lis", "dor", "mar", "na", "ven", "sa", "th"]


@dataclass(frozen=True)
class Case:
    """One answer: `added` is the text that no fact supports, "" where all is supported."""

    kind: str
    inquiry: Inquiry
    answer: str
    short: str
    added: str
    computations: tuple[Computation, ...]


def scenes(half: str) -> list[dict[str, Any]]:
    """Those of "tuning" or "held"."""
    held: list[dict[str, Any]] = tomllib.loads((FOLDER / f"{half}.toml").read_text(encoding="utf-8"))["scene"]
    return held


def world(rng: random.Random) -> dict[str, str]:
    """A value for each placeholder, all different."""
    people = rng.sample([f"{first} {last}" for first in FIRST for last in LAST], 12)
    distinct: list[str] = []
    while len({person.split()[1] for person in distinct}) < 2:
        distinct = rng.sample(people, 2)
    made = rng.sample(sorted({a + b + c for a in START for b in MIDDLE for c in END}), 12)
    made[2] = f"{made[2]} {made[10]}" if rng.random() < 0.3 else made[2]
    filled = dict(zip(("P1", "P2", "T1", "T2", "L1", "L2", "L3", "O1", "O2"), (*distinct, *made[2:9]), strict=True))
    years = rng.sample(range(1861, 1990), 4)
    filled |= {f"Y{n}": str(year) for n, year in enumerate(years, start=1)}
    for n, first in ((1, 1800), (2, 1991)):
        day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(first, first + 30)
        filled |= dates(f"D{n}", day, month, year)
    for n, number in enumerate(rng.sample(range(10_100, 99_000), 2), start=1):
        grouped = f"{number:,}"
        filled |= {f"N{n}": str(number), f"N{n}en": grouped, f"N{n}de": grouped.replace(",", ".")}
    lengths = rng.sample(range(41, 399), 2)
    filled |= {"M1": str(lengths[0]), "M2": str(lengths[1])}
    return filled | {"LONGER": filled["T1" if lengths[0] > lengths[1] else "T2"]}


def dates(name: str, day: int, month: int, year: int) -> dict[str, str]:
    named = {code: month_name(code, month) for code in ("en", "de", "it", "fr", "es")}
    return {
        name: f"{day} {named['en']} {year}",
        f"{name}us": f"{named['en']} {day}, {year}",
        f"{name}de": f"{day}. {named['de']} {year}",
        f"{name}fr": f"{day} {named['fr']} {year}",
        f"{name}it": f"{day} {named['it']} {year}",
        f"{name}es": f"{day} de {named['es']} de {year}",
        f"{name}y": str(year),
    }


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], text)


def case(scene: Mapping[str, Any], rng: random.Random) -> Case:
    values = world(rng)
    computations = []
    for made in scene.get("computed", ()):
        left, right = int(values[made["left"]]), int(values[made["right"]])
        values[made["name"]] = str(left - right)
        computations.append(Computation(f"{left} - {right}", str(left - right), tuple(made["facts"])))
    facts = tuple(
        fact(n, {key: filled(text, values) for key, text in row.items()}) for n, row in enumerate(scene["facts"])
    )
    question = filled(scene["question"], values)
    inquiry = Inquiry(question, question, facts, tuple(fact.need for fact in facts))
    answer = filled(rng.choice(scene["answers"]), values)
    kind, added = "", ""
    if rng.random() < ADDED:
        kind = rng.choice(sorted(scene["unsupported"]))
        added = filled(rng.choice(scene["unsupported"][kind]), values)
        answer = with_added(answer, added)
    return Case(kind, inquiry, answer, filled(scene["short"], values), added, tuple(computations))


def fact(n: int, row: Mapping[str, str]) -> Fact:
    return Fact(
        row["statement"], row["quote"], row["value"], f"d{n}", row["title"], f"d{n}.md", 0, len(row["quote"]),
        Need(row["need"]), 1.0,
    )  # fmt: skip


def with_added(answer: str, added: str) -> str:
    """A clause goes before the first marker, a sentence to the end."""
    if added.startswith(","):
        place = answer.find(" [")
        return answer[:place] + added.rstrip(",") + answer[place:]
    return f"{answer} {added}"


def drafted(made: Case) -> Draft:
    """The draft that the answering role makes of the scripted reply."""
    reply = {"working": "", "status": "answered", "answer": made.answer, "short_answer": made.short, "confidence": 0.9}
    settings = Settings()
    with ScriptedLLM({"answer": [reply]}) as llm:
        asker = RoleCall("answer", AnswerReply, llm, RunBudget(settings, Trace("bench", [])), None, 1024, 20_000)
        return replace(LLMAnswerer(asker).answer(made.inquiry), computations=made.computations)


def judged(made: Case, found: tuple[Claim, ...]) -> tuple[bool | None, list[Claim]]:
    """(whether the added claim was caught, the supported claims that were rejected)."""
    added = plain(made.added).strip(" .,")
    holding = [
        claim for claim in found if added and (added in plain(claim.text) or plain(claim.text).strip(" .,") in added)
    ]
    others = [claim for claim in found if claim not in holding]
    caught = any(not claim.grounded for claim in holding) if added else None
    return caught, [claim for claim in others if not claim.grounded]


def plain(text: str) -> str:
    return " ".join(re.sub(r"\[\d+\]", "", text).split())
