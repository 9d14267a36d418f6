"""The world of `fakes/bridge_world.py` without an end: bridges, the towns where they stand, their mayors.

Each place has two articles and two questions. The mayor of a place changes with the article's version, so that an
answer tells which version it was made of.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

_SYLLABLES = (
    "ba", "de", "fi", "go", "ka", "le", "mi", "no", "pu", "ra",
    "se", "ti", "vo", "wa", "xe", "zi", "bru", "dla", "fri", "sto",
)  # fmt: skip
_GIVEN = (
    "Edda", "Olin", "Runa", "Tove", "Sten", "Ylva", "Arne", "Dagny", "Bo", "Cleo",
    "Dora", "Emil", "Finn", "Gro", "Hedy", "Ivar", "Jon", "Kari", "Lars", "Mona",
)  # fmt: skip
VERSIONS = 300  # of one article, before a name would come twice


def _word(number: int, syllables: int) -> str:
    parts = [_SYLLABLES[number // len(_SYLLABLES) ** place % len(_SYLLABLES)] for place in range(syllables)]
    return "".join(parts).capitalize()


def bridge(n: int) -> str:
    return f"{_word(n, 2)}lind"


def town(n: int) -> str:
    return f"{_word(n, 2)}haven"


def mayor(n: int, version: int = 0) -> str:
    return f"{_GIVEN[n % len(_GIVEN)]} {_word(n * VERSIONS + version, 4)}son"


def gazette(n: int) -> str:
    """The title of the article about a town: no question holds it."""
    return f"{_word(7 * n + 11, 3)} gazette"


def question(n: int) -> str:
    """It takes two look-ups: the bridge's town, then the town's mayor."""
    return f"Who is the mayor of the town where the {bridge(n)} bridge stands?"


def direct_question(n: int) -> str:
    """It takes one look-up: for the strategies that search once."""
    return f"Who is the mayor of {town(n)}?"


def town_article(n: int, version: int = 0) -> str:
    return f"# {gazette(n)}\n\n{town(n)} is a harbour town. {mayor_sentence(n, version)} It has a market.\n"


def mayor_sentence(n: int, version: int = 0) -> str:
    return f"The mayor of {town(n)} is {mayor(n, version)}."


def write_articles(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        text = f"The {bridge(n)} bridge is a stone bridge in {town(n)}."
        write_file(folder / f"{bridge(n)}.md", f"# {bridge(n)}\n\n{text}\n")
        write_file(folder / f"{town(n)}.md", town_article(n))


def write_file(path: Path, text: str) -> None:
    """At once: whoever indexes meanwhile sees the old text or the new one."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def write_questions(path: Path, count: int) -> None:
    rows = [
        {"id": f"q{n}", "question": direct_question(n), "answer": mayor(n), "gold_titles": [gazette(n)]}
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
