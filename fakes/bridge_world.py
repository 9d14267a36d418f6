"""A made-up world of bridges, towns and mayors, two-hop questions over it, and a model that plays every role.

The model is honest: what it says it takes from the prompt that it is shown. Faults are put on top by whoever serves it
(`fakes/model_server.py`, `fakes/broken_replies.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fakes.script_mind import ScriptMind, role_of, user_prompt
from fakes.script_view import Script, chain

_FIRST = [
    "Al", "Ber", "Cor", "Dun", "El", "Far", "Gol", "Har", "Il", "Jor", "Kel", "Lum", "Mor", "Nel", "Or", "Pel",
    "Quil", "Ros", "Sel", "Tor",
]  # fmt: skip
_SECOND = ["ba", "den", "fi", "gar", "lo", "mi", "na", "po", "ri", "tu"]


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
        }
        for n, place in enumerate(world)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# --- the model -------------------------------------------------------------------------------


def _scripts() -> Iterator[Script]:
    """How every question and every need is answered, those of two hops first."""
    world = places(len(_FIRST) * len(_SECOND))
    needs = [f"In which town does the {place.bridge} bridge stand?" for place in world]
    towns = [f"The {place.bridge} bridge is a stone bridge in {place.town}." for place in world]
    mayors = [f"The mayor of {place.town} is {place.mayor}." for place in world]
    for place, need, town, mayor in zip(world, needs, towns, mayors, strict=True):
        yield chain(place.two_hops, (need, town, place.town), ("Who is the mayor of {0}?", mayor, place.mayor))
    for place, need, town, mayor in zip(world, needs, towns, mayors, strict=True):
        yield chain(place.one_hop, (place.one_hop, mayor, place.mayor))
        yield chain(need, (need, town, place.town))


reply = ScriptMind(*_scripts()).reply

__all__ = ["Place", "places", "reply", "role_of", "user_prompt", "write_articles", "write_questions"]
