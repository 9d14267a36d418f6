"""Many invented towns, a two-hop question about each, and a model that knows no more than its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FIRST = (
    "Al",
    "Bren",
    "Cor",
    "Dun",
    "El",
    "Far",
    "Gim",
    "Hol",
    "Ister",
    "Jor",
    "Kel",
    "Lor",
    "Mar",
    "Nes",
    "Or",
    "Pel",
)
_LAST = ("mere", "wick", "stowe", "garth")
_PEOPLE = ("Edda", "Olin", "Runa", "Tove", "Sten", "Ylva", "Arne", "Dagny")
_SURNAMES = ("Holm", "Brandt", "Fisk", "Grau", "Lind", "Moss", "Quist", "Rask")

_BRIDGE = re.compile(r"The [A-Z]\w+ bridge is a stone bridge in ([A-Z]\w+)\.")
_MAYOR = re.compile(r"The mayor of ([A-Z]\w+) is ([A-Z]\w+ [A-Z]\w+)\.")


def town(n: int) -> str:
    return _FIRST[n % len(_FIRST)] + _LAST[n // len(_FIRST) % len(_LAST)]


def bridge(n: int) -> str:
    return f"{town(n)[::-1].capitalize()} bridge"


def mayor(n: int) -> str:
    return f"{_PEOPLE[n % len(_PEOPLE)]} {_SURNAMES[n // len(_PEOPLE) % len(_SURNAMES)]}"


def write_places(folder: Path, count: int) -> None:
    """Two articles a place: a bridge and its town."""
    folder.mkdir(parents=True)
    for n in range(count):
        (folder / f"{bridge(n)}.md").write_text(
            f"# {bridge(n)}\n\nThe {bridge(n)} is a stone bridge in {town(n)}. It is old.\n", encoding="utf-8"
        )
        (folder / f"{town(n)}.md").write_text(
            f"# {town(n)}\n\n{town(n)} is a market town. The mayor of {town(n)} is {mayor(n)}.\n", encoding="utf-8"
        )


def write_questions(path: Path, count: int) -> None:
    rows = [
        {
            "id": f"q{n}",
            "question": f"Who is the mayor of the town where the {bridge(n)} stands?",
            "answer": mayor(n),
            "gold_titles": [bridge(n), town(n)],
            "expected_steps": [town(n), mayor(n)],
        }
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def play(body: Mapping[str, Any]) -> str:
    """The reply of the role that asks, out of its prompt alone (the body of an Ollama chat request)."""
    asked = body["format"]["properties"]
    prompt = body["messages"][-1]["content"]
    if "facts" in asked:
        return json.dumps({"facts": [*_found(prompt)]})
    mayors = dict(_MAYOR.findall(prompt))
    if "working" in asked:
        answer = next(iter(mayors.values()), "")
        status = "answered" if answer else "not_in_facts"
        return json.dumps({"status": status, "answer": f"{answer} [1].", "short_answer": answer, "confidence": 0.9})
    towns = _BRIDGE.findall(prompt)
    if "needs" in asked:
        if mayors:
            return json.dumps({"status": "known", "needs": []})
        wanted = re.search(r"where the (\w+ bridge) stands", prompt)
        need = f"Who is the mayor of {towns[-1]}?" if towns else f"In which town is the {wanted and wanted[1]}?"
        return json.dumps({"status": "needs", "needs": [need]})
    return json.dumps({"question": f"Who is the mayor of {towns[-1]}?" if towns else "Who?"})


def _found(prompt: str) -> list[dict[str, str]]:
    """What the document says of the need, which stands last in the prompt."""
    need = prompt.rstrip().splitlines()[-1]
    for pattern, place in ((_BRIDGE, 1), (_MAYOR, 2)):
        for match in pattern.finditer(prompt):
            subject = match[0].split(" is ")[0].removeprefix("The mayor of ").removeprefix("The ")
            if subject in need:
                return [{"statement": match[0], "quote": match[0], "value": match[place]}]
    return []
