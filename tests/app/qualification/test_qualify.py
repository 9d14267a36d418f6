"""Models of different defects behind a real server: what comes of their cases, and the profile that follows."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from fakes.model_server import FakeServer, Fault
from fakes.qualified_models import MODELS
from iterative_rag.app.factory import make_chat_model, model_identity
from iterative_rag.app.qualification.cases import RIVALLED, CaseResult, cases
from iterative_rag.app.qualification.qualify import FIRST, Outcome, Qualification, in_order, qualify
from iterative_rag.errors import LLMError
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import parse_spec
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import read_profile

LLM = "ollama/tiny:8b"
Told = Callable[[CaseResult, bool], None]
Test = Callable[..., Qualification]

PLAYS_ALL = {"careful": "off", "strategy": "agent", "window_chars": 6000, "documents_per_call": 4}
EXPECTED: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "strong": (dict.fromkeys(RIVALLED, "model"), PLAYS_ALL),
    "small": ({"read": "both", "decline": "builtin", "plan": "builtin"}, {"careful": "on"}),
    "breaking-json": ({"read": "builtin", "plan": "builtin"}, {"careful": "builtin"}),
    "obedient": (dict.fromkeys(RIVALLED, "model"), {"careful": "off", "window_chars": 4000, "documents_per_call": 1}),
}


@pytest.fixture
def qualified(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Test:
    monkeypatch.setenv("OLLAMA_HOST", server.url)

    def qualified(told: Told = lambda result, kept: None, minutes: float = 5.0) -> Qualification:
        settings = Settings(llm=LLM, retries=0)
        model = make_chat_model(LLM, settings)
        assert model is not None
        return qualify(model, model_identity(parse_spec(LLM, LLMS)), settings, told, minutes=minutes)

    return qualified


def by_night(*values: str) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


@pytest.mark.parametrize("name", ["strong", "small", by_night("breaking-json"), by_night("obedient")])
def test_each_role_is_played_by_whoever_is_better_at_it(server: FakeServer, qualified: Test, name: str) -> None:
    server.reply = MODELS[name]
    done = qualified()
    players, settings = EXPECTED[name]
    assert {**done.outcome.players, **players} == done.outcome.players, [
        (result.id, result.told) for result in done.outcome.results if not result.right
    ]
    assert done.complete
    kept = read_profile(done.profile.identity)
    assert kept is not None
    assert kept.settings == settings
    assert stat.S_IMODE(done.profile.identity.file.stat().st_mode) == 0o600
    if name == "strong":
        assert [result for result in done.outcome.results if not result.right] == []
        assert {result.role for result in done.outcome.results} == {case.role for case in cases()}
    else:
        assert len(done.outcome.results) < len(cases())


def test_the_builtin_models_play_their_cases_well(server: FakeServer, qualified: Test) -> None:
    server.reply = MODELS["breaking-json"]
    rivals = qualified().outcome.rivals
    for role in RIVALLED:
        played = [result.right for result in rivals if result.role == role]
        assert len(played) >= 10
        assert sum(played) >= 0.65 * len(played), role


def test_a_test_that_is_broken_off_sets_nothing_and_goes_on(server: FakeServer, qualified: Test) -> None:
    server.reply = MODELS["small"]

    def stop(result: CaseResult, kept: bool) -> None:
        if result.role == "plan":
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        qualified(stop)
    identity = model_identity(parse_spec(LLM, LLMS))
    held = read_profile(identity)
    assert held is not None
    assert held.settings == {}
    before = len(server.calls("/api/chat"))
    told: list[bool] = []
    done = qualified(lambda result, kept: told.append(kept))
    assert told.count(True) == len(held.report["cases"])
    assert len(told) == len(done.outcome.results)
    assert not any("1,340 seats" in str(seen.body) for seen in server.calls("/api/chat")[before:])
    assert dict(done.profile.settings) == {"careful": "on"}
    again: list[bool] = []
    qualified(lambda result, kept: again.append(kept))  # one that was completed begins anew
    assert not any(again)


@pytest.mark.parametrize("fault", ["status", "drop", "broken"])
def test_a_server_that_fails_is_no_verdict_on_its_model(server: FakeServer, qualified: Test, fault: str) -> None:
    server.reply = MODELS["small"]
    server.faults.extend([None, None, Fault(fault)])
    told: list[CaseResult] = []
    with pytest.raises(LLMError):
        qualified(lambda result, kept: told.append(result))
    assert len(told) == 2
    assert qualified().outcome.results[:2] == tuple(told)


def test_when_the_time_is_up_the_verdict_is_for_now(server: FakeServer, qualified: Test) -> None:
    server.reply = MODELS["small"]
    assert qualified(minutes=0.0001).profile.settings == {}
    outcome = qualified().outcome
    assert [result.role for result in outcome.results[: 2 * FIRST]] == ["read"] * FIRST + ["decline"] * FIRST
    assert replace(outcome, results=outcome.results[: 2 * FIRST]).careful == "on"  # it never declines
    assert replace(outcome, results=outcome.results[:FIRST]).careful == ""


def outcome(**wrong: int) -> Outcome:
    """All cases of a model that is wrong in so many of each role, against built-in models that are always right."""
    asked = [case for case in in_order(cases()) if case.role in RIVALLED]
    rivals = tuple(CaseResult(case.id, case.role, True, "", 0.1) for case in asked)
    results = []
    for rival in rivals:
        wrong[rival.role] = wrong.get(rival.role, 0) - 1
        results.append(replace(rival, right=wrong[rival.role] < 0))
    return Outcome(tuple(results), rivals)


@pytest.mark.parametrize(
    ("wrong", "careful"),
    [
        ({}, "off"),
        ({"plan": 2, "read": 2}, "off"),
        ({"decline": 3}, "on"),
        ({"plan": 3}, "on"),
        ({"answer": 3}, "on"),
        ({"read": 3}, "builtin"),
        ({"check": 3}, "off"),
    ],
)
def test_few_cases_are_chance_and_a_quarter_is_not(wrong: dict[str, int], careful: str) -> None:
    settings = dict(outcome(**wrong).settings())
    assert settings["careful"] == careful
    assert settings.get("grader") == ("builtin" if "check" in wrong else None)


def test_a_slow_model_gets_more_time() -> None:
    slow = outcome()
    late = replace(slow, results=(*slow.results[:-1], replace(slow.results[-1], seconds=50.0)))
    assert "timeout" not in dict(slow.settings())
    assert dict(late.settings())["timeout"] == 300.0
