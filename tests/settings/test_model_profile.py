"""The profile of a model as untrusted input, and who overrules it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.errors import SettingsError
from iterative_rag.settings import load_settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, read_profile, write_profile

IDENTITY = ModelIdentity("ollama/tiny:8b", "http://127.0.0.1:11434", "abc")
SETTINGS = {"strategy": "full", "window_chars": 6000, "careful": "off"}


def profile(**settings: Any) -> ModelProfile:
    return ModelProfile(IDENTITY, "2026-11-22T10:00:00+00:00", settings)


def test_a_profile_sets_only_what_nobody_set() -> None:
    given = load_settings({"window_chars": 3000, "preset": "fast"})
    applied = profile(**SETTINGS).applied(given)
    assert (applied.strategy, applied.window_chars, applied.careful) == ("full", 3000, "off")
    assert applied.max_hops == given.max_hops


def test_a_default_that_was_typed_beats_the_profile() -> None:
    assert profile(**SETTINGS).applied(load_settings({"strategy": "iterative"})).strategy == "iterative"


@pytest.mark.parametrize("given", [{"web": True}, {"reflection": "on"}])
def test_the_strategy_agent_is_left_aside_where_parts_are_wanted_that_it_lacks(given: dict[str, Any]) -> None:
    assert profile(strategy="agent").applied(load_settings()).strategy == "agent"
    assert profile(strategy="agent").applied(load_settings(given)).strategy == "iterative"
    assert profile(strategy="full").applied(load_settings(given)).strategy == "full"


def test_another_server_or_other_prompts_have_no_profile() -> None:
    write_profile(profile(**SETTINGS))
    assert read_profile(IDENTITY) is not None
    elsewhere = ModelIdentity(IDENTITY.model, "http://127.0.0.1:9999", IDENTITY.prompts)
    assert read_profile(elsewhere) is None


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"web": True}},
        {"settings": {"llm": "openai-like/x@http://evil.example"}},
        {"settings": {"window_chars": -1}},
        {"settings": {"strategy": "magic"}},
        {"settings": {"careful": "auto-magic"}},
        {"model": "ollama/other:8b"},
        {"version": 99},
    ],
)
def test_a_file_that_is_no_profile_is_refused(change: dict[str, Any]) -> None:
    path = write_profile(profile(**SETTINGS))
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(SettingsError, match="profile"):
        read_profile(IDENTITY)


def test_a_profile_that_others_can_write_is_refused() -> None:
    path: Path = write_profile(profile(**SETTINGS))
    path.chmod(0o666)
    with pytest.raises(SettingsError, match="open to other users"):
        read_profile(IDENTITY)
