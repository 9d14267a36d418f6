"""An invented world: ships, the towns that built them, their mayors; and a model that knows no more than its prompt.

Each place has two articles and two questions. The mayor of a place changes with the article's version, so that an
answer tells which version it was made of.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iterative_rag.llm.prompts import prompt, versions

_SYLLABLES = (
    "ba", "de", "fi", "go", "ka", "le", "mi", "no", "pu", "ra",
    "se", "ti", "vo", "wa", "xe", "zi", "bru", "dla", "fri", "sto",
)  # fmt: skip
_GIVEN = (
    "Edda", "Olin", "Runa", "Tove", "Sten", "Ylva", "Arne", "Dagny", "Bo", "Cleo",
    "Dora", "Emil", "Finn", "Gro", "Hedy", "Ivar", "Jon", "Kari", "Lars", "Mona",
)  # fmt: skip
VERSIONS = 300  # of one article, before a name would come twice

_BUILT = re.compile(r"The sailing ship (\w+) was built in (\w+)\.")
_MAYOR = re.compile(r"The mayor of (\w+) is (\w+ \w+)\.")
_SHIP_ASKED = re.compile(r"where the ship (\w+) was built")
_TOWN_ASKED = re.compile(r"Who is the mayor of (\w+)\?")
_LOOKED_UP = re.compile(r"QUESTION 1: (?:In which town was the ship|Who is the mayor of) (\w+)")
_HEAD = 60  # characters of a system prompt by which its role is known


def _word(number: int, syllables: int) -> str:
    parts = [_SYLLABLES[number // len(_SYLLABLES) ** place % len(_SYLLABLES)] for place in range(syllables)]
    return "".join(parts).capitalize()


def ship(n: int) -> str:
    return f"{_word(n, 2)}lind"


def town(n: int) -> str:
    return f"{_word(n, 2)}haven"


def mayor(n: int, version: int = 0) -> str:
    return f"{_GIVEN[n % len(_GIVEN)]} {_word(n * VERSIONS + version, 4)}son"


def gazette(n: int) -> str:
    """The title of the article about a town: no question holds it."""
    return f"{_word(7 * n + 11, 3)} gazette"


def question(n: int) -> str:
    """It takes two look-ups: the ship's town, then the town's mayor."""
    return f"Who is the mayor of the town where the ship {ship(n)} was built?"


def direct_question(n: int) -> str:
    """It takes one look-up: for the strategies that search once."""
    return f"Who is the mayor of {town(n)}?"


def town_article(n: int, version: int = 0, more: str = "") -> str:
    return f"# {gazette(n)}\n\n{town(n)} is a harbour town. {mayor_sentence(n, version)} It has a market.{more}\n"


def mayor_sentence(n: int, version: int = 0) -> str:
    return f"The mayor of {town(n)} is {mayor(n, version)}."


def write_articles(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        write_file(folder / f"{ship(n)}.md", f"# {ship(n)}\n\nThe sailing ship {ship(n)} was built in {town(n)}.\n")
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


# --- the model -------------------------------------------------------------------------------


def role_of(system: str) -> str:
    """Which of the package's prompts a system message is; "" for none of them."""
    heads = {role: prompt(role).system[:_HEAD] for role in versions()}
    return next((role for role, head in heads.items() if system.startswith(head)), "")


def reply(role: str, user: str) -> str:
    """What an honest and able model says in this role, as JSON."""
    return json.dumps(_PARTS[role.partition("_")[0]](user))


def place_asked(user: str) -> str:
    """The ship or town that the question of a prompt names, "" where it holds none."""
    asked = _LOOKED_UP.search(user) or _SHIP_ASKED.search(user)
    return asked[1] if asked else ""


def _known(user: str) -> tuple[str, str, str]:
    """The need that is next, the town and the mayor, as far as the facts of the prompt tell."""
    asked = _SHIP_ASKED.search(user)
    if asked:
        home = dict(_BUILT.findall(user)).get(asked[1], "")
        need = f"Who is the mayor of {home}?" if home else f"In which town was the ship {asked[1]} built?"
    else:
        direct = _TOWN_ASKED.search(user)
        home = direct[1] if direct else ""
        need = f"Who is the mayor of {home}?"
    return need, home, dict(_MAYOR.findall(user)).get(home, "")


def _tried(user: str, need: str) -> bool:
    listed = user.partition("TRIED ALREADY:")[2]
    # A complaint about the reply before quotes it: what that named was not tried.
    return need in listed.partition("Your last reply could not be used:")[0]


def _analyse(user: str) -> object:
    need, _, found = _known(user)
    if found:
        return {"reason": "All is known.", "status": "known", "needs": []}
    if _tried(user, need):
        return {"reason": "The documents do not say it.", "status": "stuck", "needs": []}
    return {"reason": "One link is missing.", "status": "needs", "needs": [need]}


def _extract(user: str) -> object:
    need = user.rpartition("QUESTION 1: ")[2].partition("WHOLE QUESTION")[0]
    found = [(match[0], match[2]) for match in _BUILT.finditer(user) if f"ship {match[1]} " in f"{need} "]
    found += [(match[0], match[2]) for match in _MAYOR.finditer(user) if f"mayor of {match[1]}" in need]
    if _SHIP_ASKED.search(need):
        found += [(match[0], "") for match in _BUILT.finditer(user) if f"ship {match[1]} " in need]
    return {"facts": [{"statement": text, "quote": text, "value": value} for text, value in dict(found).items()]}


def _answer(user: str) -> object:
    _, _, found = _known(user)
    lines = re.findall(r"^\[(\d+)\](.*)$", user, re.MULTILINE)
    number = next((n for n, line in lines if found and f" is {found}." in line), "")
    if not number:
        return {
            "working": "No fact says it.",
            "compute": [],
            "status": "not_in_facts",
            "answer": "",
            "short_answer": "",
            "missing": "who the mayor is",
            "confidence": 0.2,
        }
    return {
        "working": f"The mayor is {found} [{number}].",
        "compute": [],
        "status": "answered",
        "answer": f"The mayor is {found} [{number}].",
        "short_answer": found,
        "missing": "",
        "confidence": 0.9,
    }


def _grade(user: str) -> object:
    need = user.rpartition("QUESTION:")[2]
    parts = re.split(r"<document (\d+) \w+>", user)[1:]
    good = [any(subject in need for subject in _subjects(text)) for text in parts[1::2]]
    numbered = zip(parts[::2], good, strict=True)
    return {"grades": [{"n": int(n), "reason": "read", "label": "Perfect" if one else "Poor"} for n, one in numbered]}


def _subjects(text: str) -> Sequence[str]:
    return [match[1] for pattern in (_BUILT, _MAYOR) for match in pattern.finditer(text)]


def _reflect(user: str) -> object:
    numbers = re.findall(r"^(\d+)\. ", user.partition("CLAIMS:")[2], re.MULTILINE)
    claims = [{"n": int(n), "verdict": "grounded", "facts": [1]} for n in numbers]
    return {"reason": "checked", "claims": claims, "useful": True, "refusal": False, "gap": "", "false_premise": ""}


def _plan(user: str) -> object:
    need, _, found = _known(user)
    done = bool(found) or _tried(user, need)
    return {"reason": "one by one", "done": done, "steps": [] if done else [{"question": need}]}


def _suffice(user: str) -> object:
    need, _, found = _known(user)
    return {"reason": "looked", "enough": bool(found) or _tried(user, need), "gap": "" if found else need}


def _reword(user: str) -> object:
    need = user.partition("QUESTION:")[2].partition("\n")[0].strip()
    return {"phrasings": [f"{need} (name)", f"tell: {need}", f"wanted: {need}"], "broader": need, "passage": need}


_PARTS: Mapping[str, Callable[[str], object]] = {
    "analyse": _analyse,
    "extract": _extract,
    "rephrase": lambda user: {"question": _known(user)[0]},
    "answer": _answer,
    "grade": _grade,
    "reflect": _reflect,
    "plan": _plan,
    "suffice": _suffice,
    "reword": _reword,
    "agent": lambda user: {"thought": "", "calls": [{"call": "search", "query": user[-200:]}]},
    "web": lambda user: {"query": user},
    "recall": lambda user: {"working": "", "status": "unknown", "short_answer": "", "confidence": 0.1},
    "judge": lambda user: {"reason": "compared", "verdict": "correct"},
}
