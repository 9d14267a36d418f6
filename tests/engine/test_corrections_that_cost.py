"""What `full` spends on grades, other words and reading where every call costs; each case lost its fact before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.case_corpus import CaseCorpus
from fakes.numbered_sentences import unnumbered
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.protocols import ChatRequest
from iterative_rag.types import CorrectionStep, FinalStep, GradingStep, ShortlistStep, Status, Step

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


# --- the tests -----------------------------------------------------------------------------------


QUESTION = f"{NEED} Say it in words."
SETTINGS = {"shortlist": 3, "passages": 10, "strategy": "full"}


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> CaseCorpus:
    folder = tmp_path_factory.mktemp("trophies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        write_articles(folder / "articles")
        return CaseCorpus(folder / "articles", "trophies")


def run(articles: CaseCorpus, llm: ScriptedLLM, **settings: Any) -> list[Step]:
    with articles.opened(llm, **{**SETTINGS, **settings}) as rag:
        return list(rag.steps(QUESTION))


def outcome(steps: list[Step]) -> tuple[Status, str]:
    assert isinstance(steps[-1], FinalStep)
    return steps[-1].answer.status, steps[-1].answer.short_answer


def titles(step: ShortlistStep) -> list[str]:
    return [entry.title for entry in step.documents]


def read(llm: ScriptedLLM) -> list[str]:
    """The titles of the windows that were read."""
    return [title for request in llm.asked("extract") for title in TEXTS if f"{title}\n" in request.user]


def test_other_words_bring_the_unread_part_of_a_document_that_was_listed(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect", WINNER: "Poor"})
    steps = run(articles, llm)
    (correction,) = (step for step in steps if isinstance(step, CorrectionStep))
    assert WINNER in [entry.title for entry in correction.documents]
    assert outcome(steps) == (Status.ANSWERED, VALUE)


def test_a_grader_sees_how_a_document_begins_and_which_section_a_passage_is_in(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect"})
    run(articles, llm)
    first, second = (graded_documents(request) for request in llm.asked("grade")[:2])
    (winner,) = (text for text in first if WINNER in text)
    assert BORN in winner
    assert "## Seasons" in winner
    assert any("## Trophies" in text and BORN in text for text in second)


def test_what_is_poor_is_not_read_beside_what_is_good(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect", WINNER: "Poor", "stick ball": "Poor"})
    run(articles, llm)
    assert read(llm) == [WINNER]


def test_what_is_poor_is_read_by_the_wider_search_where_the_good_brought_nothing(articles: CaseCorpus) -> None:
    once = "Jann Uld was once named most valuable player of the league"
    llm = model([[NEED]] * 3, {WINNER: "Good", "stick ball": "Poor"}, quotes={once: "once"})
    steps = run(articles, llm, correction="off", passages=24)
    first, second = (step for step in steps if isinstance(step, ShortlistStep))
    assert "Jann Uld" in titles(first)
    assert "Jann Uld" in titles(second)
    assert WINNER not in titles(second)
    assert outcome(steps) == (Status.ANSWERED, "once")


def test_a_need_that_other_words_did_not_help_is_not_reworded_again(articles: CaseCorpus) -> None:
    llm = model([[NEED]] * 3, {}, quotes={}, phrasings=["stick ball bakery", "rye bread"])
    steps = run(articles, llm)
    assert len(llm.asked("reword")) == 1
    assert sum(isinstance(step, GradingStep) for step in steps) <= 3
    assert outcome(steps)[0] is Status.ABSTAINED
