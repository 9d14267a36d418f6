"""What the tools of the strategy `agent` show of a corpus: rows, lists, namesakes, and as much as there is room for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.scripted_llm import ScriptedLLM
from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory import index_paths
from iterative_rag.types import Answer, ReasonCode, Status

QUESTION = "Who lit the lamp of Skarn?"
FILLER = "The keeper wrote down wind, waves and passing ships with care every evening of the long year. "
ROWS = [f"| Brig {n} | {1700 + n} | salt {n} |" for n in range(90)]
TABLE = "\n".join(["| Ship | Year | Cargo |", "|---|---|---|", *ROWS])
LIT = "In the end it was lit by Orla Fenn."
WALLS = [
    f"Wall {n} of the harbour of Skarn is of the design that a harbour of Skarn needs. {FILLER}" for n in range(40)
]
DRAWN = "The drawings were made by Ada Holm, an architect of the coast, before the first stone was laid."
TEXTS = {
    "lamp.md": f"# Lamp of Skarn\n\nThe lamp of Skarn burnt oil. {FILLER * 16}\n\n{LIT}\n",
    "ships.md": f"# Ships of Skarn\n\nShips passed the lamp of Skarn. {FILLER * 30}\n\n## Arrivals\n\n{TABLE}\n\n"
    f"{FILLER * 30}\n",
    "keepers.md": "# Keepers of Skarn\n\nThe lamp had keepers.\n\n## First keepers\n\n- Ines Vane (1701)\n"
    "- Otto Brandt (1711)\n- Edda Holm (1720)\n\n## Later keepers\n\n* Birte Lund\n* Tove Aldous\n\n"
    "## Assistants\n\n## See also\n\nThe end.\n",
    "wardens.md": "# Wardens of Skarn\n\nThe lamp had wardens, who kept the harbour.\n\n## By year\n\nIda Moor (1731)\n"
    "Bo Tarn (1740)\nEva Lint (1752)\nOle Frost (1761)\n\n## Staff\n\nFilms\nMusic\nNotes\nOther\n",
    "harbour.md": "# Harbour of Skarn\n\n" + "".join(f"{wall}\n\n" for wall in WALLS) + f"{DRAWN}\n",
    "reeves.md": "# Reeves of Skarn\n\nThe reeves kept the harbour of Skarn.\n\nTimeline\nLifespan timeline\nSee also\n"
    "Keepers of the north\nList of lamps\nMoor of Skarn\nWardens of the coast\n",
    "planets/mercury.md": "# Mercury\n\nMercury is a planet with a crater named Skarn.\n",
    "metals/mercury.md": "# Mercury\n\nMercury is a metal. In the lamp of Skarn it carried the lens.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent-reading")
    for name, text in TEXTS.items():
        path = folder / "articles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        index_paths([folder / "articles"], settings=Settings(corpus="skarn"), corpus="skarn")
    return folder / "home"


@pytest.fixture
def settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(home))
    return Settings(corpus="skarn", cache=False, strategy="agent", context_window=4096)


SUBMIT = {
    "tool": "submit",
    "answer": "It carried the lens [1].",
    "short_answer": "the lens",
    "quotes": [{"title": "Mercury", "quote": "In the lamp of Skarn it carried the lens.", "value": "the lens"}],
    "confidence": 0.9,
}


def after(settings: Settings, *calls: Mapping[str, Any]) -> tuple[str, Answer]:
    """What the model is shown after a turn of these calls, and the answer that it then submits."""
    with ScriptedLLM({"agent": [{"calls": list(calls)}, {"calls": [SUBMIT]}]}) as llm:
        rag = IterativeRAG.from_settings(settings, llm=llm)
        answer = rag.ask(QUESTION)
        rag.close()
    return llm.requests[1].user.partition("RESULTS:")[2], answer


# --- room ------------------------------------------------------------------------------------


def room(settings: Settings) -> int:
    return int(settings.context_window * 3 * 0.35)


@pytest.mark.parametrize("window", [2048, 4096, 8192])
def test_results_keep_to_their_room(settings: Settings, window: int) -> None:
    settings = settings.model_copy(update={"context_window": window})
    search = {"tool": "search", "queries": ["ships that arrived with salt", "lamp of Skarn"]}
    shown, _ = after(settings, search, {"tool": "list_rows", "title": "Ships of Skarn"})
    assert 0.5 * room(settings) < len(shown) < 1.1 * room(settings) + 600
    assert "Brig 3 |" in shown


# --- articles of one title -------------------------------------------------------------------


def test_what_has_no_room_is_named_and_a_whole_article_is_called_so(settings: Settings) -> None:
    names = ("Mercury", "Lamp of Skarn", "Ships of Skarn", "Harbour of Skarn")
    search = {"tool": "search", "queries": [f"{name} {QUESTION}" for name in names]}
    little, _ = after(settings.model_copy(update={"context_window": 1500}), search)
    assert "no more room: Keepers of Skarn · Ships of Skarn)" in little
    assert f"{LIT}\n(this is the whole article)" not in little
    assert f"{LIT}\n(this is the whole article)" in after(settings, search)[0]


def test_articles_of_one_title_are_told_apart_by_their_source(settings: Settings) -> None:
    find = {"tool": "find_in_article", "title": "Mercury", "words": "Skarn"}
    shown, _ = after(settings, find)
    assert "2 articles have that title; name one as it is written here, with its source" in shown
    labels = ["Mercury [metals/mercury.md]", "Mercury [planets/mercury.md]"]
    assert all(label in shown for label in labels)
    assert "articles/" not in shown  # the folders above are the user's own
    for label in labels:
        one, _ = after(settings, {**find, "title": label})
        assert ("crater named Skarn" in one) == ("planets" in label)
        assert ("lens" in one) == ("metals" in label)


def test_a_quote_is_looked_for_in_every_article_of_its_title(settings: Settings) -> None:
    _, answer = after(settings, {"tool": "calculate", "expression": "1 + 1"})
    assert answer.status is Status.ANSWERED
    assert answer.citations[0].source.endswith("metals/mercury.md")


# --- rows and lists -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "held", "left_out"),
    [
        ({}, "3 of 3 rows", "Birte Lund"),
        ({"table": "later keepers"}, "2 of 2 rows", "Ines Vane"),
        ({"table": "2"}, "Tove Aldous", "Ines Vane"),
        ({"filter": "1711"}, "1 of 3 rows", "Ines Vane"),
        ({"filter": "lighthouse"}, "none of 5 rows holds all these words", "Ines Vane"),
    ],
    ids=["longest", "named", "numbered", "filter", "no entry"],
)
def test_lists_stand_in_for_tables(settings: Settings, asked: Mapping[str, str], held: str, left_out: str) -> None:
    shown, _ = after(settings, {"tool": "list_rows", "title": "Keepers of Skarn", **asked})
    assert "no tables in this article" in shown
    assert "Lists, with their entries: 1. First keepers (3) · 2. Later keepers (2)" in shown
    assert held in shown
    assert left_out not in shown


def test_nothing_is_shown_twice_in_one_turn(settings: Settings) -> None:
    call = {"tool": "list_rows", "title": "Keepers of Skarn"}
    shown, _ = after(settings, call, {**call, "filter": "1711"}, {**call, "table": "First keepers"})
    assert shown.count("Lists, with their entries") == 1
    assert shown.count("Ines Vane") == 1
    assert "(shown above)" in shown


def test_a_place_that_a_search_of_the_turn_shows_is_not_shown_again_but_is_in_the_next(settings: Settings) -> None:
    search, place = (
        {"tool": "search", "queries": ["Mercury in the lamp of Skarn"]},
        {"tool": "find_in_article", "title": "Mercury [metals/mercury.md]", "words": "carried the lens"},
    )
    shown, _ = after(settings, search, place)
    assert shown.count("it carried the lens") == 1
    assert "(shown above)" in shown
    with ScriptedLLM({"agent": [{"calls": [search]}, {"calls": [place]}, {"calls": [SUBMIT]}]}) as llm:
        IterativeRAG.from_settings(settings, llm=llm).ask(QUESTION)
    assert "it carried the lens" in llm.requests[2].user.partition("RESULTS:")[2]


def test_a_search_says_where_no_article_has_the_name_and_shows_only_the_first(settings: Settings) -> None:
    shown, _ = after(settings, {"tool": "search", "queries": ["king Olaf Brandt"]})
    assert "no article names this; near: " in shown
    assert shown.count("\n\n# ") == 1


def test_what_is_linked_at_the_end_of_an_article_is_no_row_of_it(settings: Settings) -> None:
    shown, _ = after(settings, {"tool": "list_rows", "title": "Reeves of Skarn"})
    assert "Timeline (" not in shown
    assert "List of lamps" not in shown


def test_a_search_shows_the_passages_that_likeliest_answer(settings: Settings) -> None:
    shown, _ = after(settings, {"tool": "search", "queries": ["Who designed the harbour of Skarn?"]})
    assert DRAWN in shown


def test_plain_lines_are_a_list_and_stand_below_their_heading(settings: Settings) -> None:
    shown, _ = after(settings, {"tool": "list_rows", "title": "Wardens of Skarn", "filter": "1752"})
    assert "Lists, with their entries: 1. By year (4)" in shown
    assert "1 of 4 rows" in shown
    shown, _ = after(settings, {"tool": "find_in_article", "title": "Wardens of Skarn", "words": "by year"})
    assert "Ole Frost (1761)" in shown


@pytest.mark.parametrize(
    "call",
    [{"tool": "list_rows", "table": "assistants"}, {"tool": "read_section", "heading": "Assistants"}],
    ids=["rows", "section"],
)
def test_rows_that_the_corpus_lacks_are_told_and_end_the_run_under_their_own_name(
    settings: Settings, call: Mapping[str, Any]
) -> None:
    gives_up = {"tool": "submit", "status": "not_found", "missing": "the assistants"}
    turns = [[{**call, "title": "Keepers of Skarn"}], [{"tool": "search", "queries": ["assistants", "keepers"]}]]
    with ScriptedLLM({"agent": [*({"calls": calls} for calls in turns), {"calls": [gives_up]}]}) as llm:
        rag = IterativeRAG.from_settings(settings, llm=llm)
        answer = rag.ask("Who were the assistants of the keepers of Skarn?")
        rag.close()
    assert "its rows are not in this corpus" in llm.requests[1].user
    assert "Keepers of Skarn (without their rows in this corpus: Assistants)" in llm.requests[2].user
    assert (answer.status, answer.reason_code) == (Status.ABSTAINED, ReasonCode.ROWS_LOST)
    assert 'the rows of "Assistants" in the article "Keepers of Skarn"' in answer.reason
