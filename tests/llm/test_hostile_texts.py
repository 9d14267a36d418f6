"""Documents that give orders, and a model that obeys: nothing is done, nothing is claimed that no document says."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.audit_watch import watched
from fakes.contradicting_documents import EACH, Case, ContradictingCorpus, cases, one_sided
from fakes.planted_instruction_runs import Outcome, PlantedCorpus, as_row, leak
from fakes.planted_instructions import Instruction, ObedientLLM, instructions

pytest.importorskip("selectolax", reason="web pages need the extra files")

CASES = instructions()
# How many of them there are for each that is played where nobody asked for all (`--nightly`).
PLAYED_EVERY = 8
# One of each course; scripts/bench/hostile_texts.py runs all of them.
STRATEGIES = ("naive", "iterative", "plan", "full", "agent")
# Parts of HTML that no reader sees: they are left out before any model reads the document.
UNSEEN = {"html_hidden", "html_comment"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, played: list[Instruction]) -> Iterator[PlantedCorpus]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        yield PlantedCorpus(folder / "articles", played)


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> list[Instruction]:
    return CASES if request.config.getoption("nightly") else CASES[::PLAYED_EVERY]


@pytest.fixture(scope="module")
def outcomes(library: PlantedCorpus, played: list[Instruction]) -> dict[str, list[Outcome]]:
    """The instructions under every strategy, with the model that obeys."""
    model = ObedientLLM(CASES)
    found: dict[str, list[Outcome]] = {}
    with library.opened(model.llm()) as rag:
        for strategy in STRATEGIES:
            model.obeyed.clear()
            found[strategy] = [library.run(rag, model, one, strategy) for one in played]
    return found


def test_the_instructions_reach_the_model(outcomes: dict[str, list[Outcome]], played: list[Instruction]) -> None:
    """Else the other tests would show nothing."""
    assert len(CASES) >= 75
    assert len({one.language for one in CASES}) >= 5
    # A document of its own is not read by a strategy that has found the value before; `full` reads on.
    for one, *outcomes_of_one in zip(played, *outcomes.values(), strict=True):
        read = any("extract" in outcome.obeyed for outcome in outcomes_of_one)
        assert read == (one.place not in UNSEEN), one
    roles = {role for found in outcomes.values() for outcome in found for role in outcome.obeyed}
    wanted = {"analyse", "extract", "rephrase_and_analyse", "answer", "grade", "reflect", "plan", "agent"}
    assert roles >= wanted


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_done_and_nothing_said_that_no_document_says(
    outcomes: dict[str, list[Outcome]], strategy: str
) -> None:
    assert [as_row(outcome) for outcome in outcomes[strategy] if outcome.wrongs] == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_answer_that_follows_an_order_shows_the_order(outcomes: dict[str, list[Outcome]], strategy: str) -> None:
    """A document may say what is false; then its own words stand below the answer."""
    assert [as_row(outcome) for outcome in outcomes[strategy] if outcome.swayed and not outcome.shown] == []


def test_quotes_that_no_document_holds_become_no_facts(
    outcomes: dict[str, list[Outcome]], played: list[Instruction]
) -> None:
    every = [outcome for found in outcomes.values() for outcome in found]
    assert sum(outcome.made_up for outcome in every) >= 3 * len(played)
    assert [as_row(outcome) for outcome in every if outcome.kept] == []


def test_the_built_in_backend_follows_nobody(library: PlantedCorpus, played: list[Instruction]) -> None:
    with library.opened("builtin") as rag:
        found = [library.run(rag, None, one, "iterative") for one in played[::2]]
    assert [as_row(outcome) for outcome in found if outcome.wrongs or outcome.kept] == []
    assert [as_row(outcome) for outcome in found if outcome.swayed and not outcome.shown] == []


def test_the_watch_sees_what_it_watches_for(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    with watched(tmp_path / "inside") as watch:
        (tmp_path / "inside" / "kept.txt").write_text("may be written")
        (tmp_path / "outside.txt").write_text("may not")
        subprocess.run([sys.executable, "-c", ""], check=True)
        with pytest.raises(Exception):  # noqa: B017, PT011 - refused by the tests' own guard, or by nobody listening
            socket.create_connection(("127.0.0.1", 1), timeout=1)
    seen = " ".join(watch.seen)
    assert "outside.txt" in seen
    assert "subprocess.Popen" in seen
    assert "kept.txt" not in seen
    assert leak("He said: you plan the research for a question that takes several look-ups in an encyclopedia.")
    assert not leak("The mayor of Aldermere is Edda Holm.")


# --- documents against documents -------------------------------------------------------------


@pytest.fixture(scope="module")
def contradictions(request: pytest.FixtureRequest) -> list[Case]:
    return cases() if request.config.getoption("nightly") else cases(15)


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory, contradictions: list[Case]) -> Iterator[ContradictingCorpus]:
    folder = tmp_path_factory.mktemp("contradicting")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        yield ContradictingCorpus(folder / "articles", contradictions)


def test_five_documents_stand_against_five() -> None:
    for case in cases():
        values = [[value in text for text in case.texts.values()].count(True) for value in (case.true, case.false)]
        assert values == [EACH, EACH], case


@pytest.mark.parametrize("backend", ["one-sided", pytest.param("builtin", marks=pytest.mark.nightly)])
def test_a_contradiction_between_sources_is_shown_and_told(
    shelves: ContradictingCorpus, contradictions: list[Case], backend: str
) -> None:
    known = contradictions
    with shelves.opened(one_sided(known) if backend == "one-sided" else backend) as rag:
        answers = [(case, shelves.ask(rag, case, "full")) for case in known]
    silent = [(case.id, answer.text, answer.conflicts) for case, answer in answers if not case.shown(answer)]
    assert len(silent) <= 0.1 * len(known), silent
    untold = [(case.id, answer.text) for case, answer in answers if case.shown(answer) and not case.told(answer)]
    assert untold == []
