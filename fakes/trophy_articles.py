"""Invented articles of which a search finds the wrong parts, and a model that judges them by what it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fakes.numbered_sentences import unnumbered
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.protocols import ChatRequest

WINNER = "Aldo Brack"
NEED = f"How many times in a row was {WINNER} named most valuable player of the league?"
QUOTE, VALUE = "In the spring of 1988 his sixth straight Larn Trophy followed.", "sixth straight"
OTHER_WORDS = f"{WINNER} straight Larn Trophy spring followed"
BORN = f"{WINNER} (born 3 March 1961) is a retired stick ball player from Tarn."
LIST = "List of most valuable players of the league"

# Every paragraph speaks of the need in its own words, and none of them answers it.
_PARAGRAPH = (
    "In {year} {name} was again spoken of as the most valuable player of the league. The papers asked how many times "
    "in a row a player could be named, the club asked for patience, and the most valuable player of the league was "
    "named after the last match of the season, as in every year. He trained in the hall by the harbour all winter."
)
_ELSEWHERE = (
    "He opened a bakery in the old town and kept bees behind the house. The guests came for rye bread and for the view "
    "over the bay, and in winter the stove was lit at five in the morning."
)


def _article() -> str:
    seasons = "\n\n".join(_PARAGRAPH.format(year=1979 + n, name=WINNER) for n in range(14))
    later = "\n\n".join([_ELSEWHERE] * 6)
    sections = {"Seasons": seasons, "Bakery": later, "Trophies": f"{QUOTE}\n\n{later}"}
    return f"# {WINNER}\n\n{BORN}\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items())


def _rival(name: str) -> str:
    return (
        f"# {name}\n\n{name} is a stick ball player. {name} was once named most valuable player of the league, and "
        "nobody knows how many times in a row he lost.\n"
    )


TEXTS: Mapping[str, str] = {
    WINNER: _article(),
    **{name: _rival(name) for name in ("Pell Orrin", "Jann Uld", "Tor Heck", "Sim Vane")},
    LIST: f"# {LIST}\n\nThis is a list of the most valuable players of the league, from 1950 on.\n\n## Players\n",
}


def write_articles(folder: Path) -> None:
    folder.mkdir(parents=True)
    for title, text in TEXTS.items():
        (folder / f"{title}.md").write_text(text, encoding="utf-8")


def model(
    needs: Sequence[Sequence[str]],
    grades: Mapping[str, str],
    *,
    quotes: Mapping[str, str] | None = None,
    phrasings: Sequence[str] = (OTHER_WORDS,),
) -> ScriptedLLM:
    """Asks for `needs` hop by hop; gives a document the first of `grades` whose words it is shown, else Awful; quotes
    those of `quotes` that it is shown, and answers with the value of the last."""
    known = quotes if quotes is not None else {QUOTE: VALUE}
    left = [list(asked) for asked in needs]

    def analyse(request: ChatRequest) -> Mapping[str, Any]:
        return {"status": "needs", "needs": left.pop(0)} if left else {"status": "known"}

    def grade(request: ChatRequest) -> Mapping[str, Any]:
        rows = [
            {"n": n, "label": next((label for words, label in grades.items() if words in text), "Awful")}
            for n, text in enumerate(graded_documents(request), start=1)
        ]
        return {"grades": rows}

    def extract(request: ChatRequest) -> Mapping[str, Any]:
        shown = [(quote, value) for quote, value in known.items() if quote in unnumbered(request.user)]
        return {"facts": [{"statement": quote, "quote": quote, "value": value} for quote, value in shown]}

    def answer(request: ChatRequest) -> Mapping[str, Any]:
        held = [value for quote, value in known.items() if quote in request.user]
        if not held:
            return {"status": "not_in_facts", "missing": "the number of times"}
        return {"status": "answered", "answer": f"{held[-1]} [1]", "short_answer": held[-1], "confidence": 0.9}

    return ScriptedLLM(
        {
            "analyse": analyse,
            "grade": grade,
            "extract": extract,
            "answer": answer,
            "rephrase_and_analyse": lambda request: {"question": "How many times was it?", **analyse(request)},
            "reword": lambda request: {"phrasings": list(phrasings), "broader": "", "passage": ""},
            "reflect": lambda request: {"claims": [], "useful": True},
        }
    )


def graded_documents(request: ChatRequest) -> list[str]:
    """The documents that a grading request shows."""
    found = re.findall(r"<document (\d+) (\w+)>\n(.*?)\n</document \1 \2>", request.user, re.DOTALL)
    return [text for _, _, text in found]
