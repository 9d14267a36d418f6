"""Models of different defects behind a real server: what is measured of each, and the profile that follows."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from typing import Any

import pytest

from fakes.model_server import FakeServer
from fakes.qualified_models import MODELS
from iterative_rag.app.factory import make_chat_model, model_identity
from iterative_rag.app.qualification.cases import CaseResult, cases
from iterative_rag.app.qualification.decisions import Measured, decisions
from iterative_rag.app.qualification.observed_model import ObservedCall
from iterative_rag.app.qualification.qualify import Qualification, qualify
from iterative_rag.app.qualification.strategy_runs import StrategyResult
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import parse_spec
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import read_profile

LLM = "ollama/tiny:8b"
ROLES = {"analyse", "extract", "rephrase", "answer", "grade", "reword", "web_query", "plan", "reflect"}
REFLECTS = {"reflection": "on"}
EXPECTED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "strong": ((), {"strategy": "agent", "window_chars": 6000, "documents_per_call": 4}),
    "breaking-json": (
        ("breaks the form of its replies",),
        {"strategy": "iterative", "window_chars": 4000},
    ),
    "paraphrasing": (
        ("changes the words of quotes", "does not abstain where nothing is stated", "mixes up needs or documents"),
        {"strategy": "iterative", "window_chars": 2000, "documents_per_call": 1} | REFLECTS,
    ),
    "obedient": (
        ("follows instructions in documents: use it without --web",),
        {"strategy": "iterative", "window_chars": 6000},
    ),
}


def by_night(*values: str) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


def qualified(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Qualification:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    model = make_chat_model(LLM, Settings(llm=LLM))
    assert model is not None
    return qualify(model, model_identity(parse_spec(LLM, LLMS)), Settings(llm=LLM), lambda name: None)


@pytest.mark.parametrize("name", ["strong", "paraphrasing", by_night("breaking-json"), by_night("obedient")])
def test_each_model_gets_the_profile_of_its_defects(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    server.reply = MODELS[name]
    done = qualified(server, monkeypatch)
    defects, settings = EXPECTED[name]
    assert done.measured.defects == defects
    assert {decision.name: decision.value for decision in done.decisions} == settings
    kept = read_profile(done.profile.identity)
    assert kept is not None
    assert kept.settings == settings
    if name == "strong":
        assert [case.id for case in done.measured.cases if not case.right] == []
        assert {case.role for case in cases().roles} == ROLES
    file = done.profile.identity.file
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text(encoding="utf-8"))["report"]["defects"] == list(defects)


def measured(**changes: Any) -> Measured:
    """A model without a defect, with the changes."""
    strategies = (
        StrategyResult("iterative", 2, 2, 12),
        StrategyResult("plan", 2, 2, 10),
        StrategyResult("full", 2, 2, 20),
    )
    quote = CaseResult("quote", "quotes", True, "", quotes=1, verbatim=1)
    calls = (ObservedCall("", True, 2.0),) * 50
    return replace(Measured((quote,), 6000, strategies, calls), **changes)


def decided(**changes: Any) -> dict[str, Any]:
    return {decision.name: decision.value for decision in decisions(measured(**changes))}


def test_only_a_model_that_keeps_documents_apart_gets_several_in_a_call() -> None:
    right, wrong = (CaseResult("several", "several", right, "", quotes=1, verbatim=1) for right in (True, False))
    assert "documents_per_call" not in decided()
    assert decided(cases=(right,))["documents_per_call"] == 4
    assert decided(cases=(right, wrong))["documents_per_call"] == 1


def test_a_slow_model_gets_more_time() -> None:
    assert "timeout" not in decided()
    assert decided(calls=(ObservedCall("", True, 50.0),) * 2)["timeout"] == 300.0


def test_a_strategy_replaces_the_default_only_where_it_answered_more() -> None:
    better = (StrategyResult("iterative", 1, 2, 12), StrategyResult("full", 2, 2, 30))
    assert decided()["strategy"] == "iterative"
    assert decided(strategies=better)["strategy"] == "full"


def test_a_model_drives_only_where_that_costs_no_more_and_it_has_no_defect() -> None:
    default = StrategyResult("iterative", 2, 2, 12)
    cheap, costly = (StrategyResult("agent", 2, 2, calls) for calls in (8, 13))
    assert decided(strategies=(default, cheap))["strategy"] == "agent"
    assert decided(strategies=(default, costly))["strategy"] == "iterative"
    obeying = CaseResult("planted", "planted", False, "", quotes=1, verbatim=1, followed=True)
    assert decided(strategies=(default, cheap), cases=(obeying,))["strategy"] == "iterative"
