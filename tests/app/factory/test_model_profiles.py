"""A run uses the profile of its model wherever the user has set nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from iterative_rag.app.factory import IterativeRAG, corpora, model_identity
from iterative_rag.remote.model_spec import Spec
from iterative_rag.settings.model_profile import ModelProfile, write_profile
from iterative_rag.types import Document

LLM = "ollama/tiny:8b"
URL = "http://127.0.0.1:9"


@pytest.fixture
def profile_file(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OLLAMA_HOST", URL)
    embedder = HashingEmbedder()
    index_documents(corpora(), "towns", [Document("a", "Aldermere", "Aldermere is a town.", "a.md")], embedder)
    identity = model_identity(Spec("ollama", "tiny:8b", URL))
    settings = {"strategy": "full", "window_chars": 6000, "careful": "off"}
    return write_profile(ModelProfile(identity, "2026-11-22T10:00:00+00:00", settings))


def opened(**settings: Any) -> IterativeRAG:
    rag = IterativeRAG.from_settings(corpus="towns", embed_model=HashingEmbedder(), **{"llm": LLM, **settings})
    rag.close()
    return rag


def test_a_run_uses_the_profile_and_says_so(profile_file: Path) -> None:
    rag = opened()
    assert (rag.settings.strategy, rag.settings.window_chars) == ("full", 6000)
    assert rag.notice == "From the model's profile of 2026-11-22: careful off, strategy full, window_chars 6000."


@pytest.mark.parametrize(("careful", "backend"), [("on", "ollama/tiny:8b"), ("builtin", "builtin"), ("off", "ollama")])
def test_the_profile_decides_who_plays_the_roles(profile_file: Path, careful: str, backend: str) -> None:
    identity = model_identity(Spec("ollama", "tiny:8b", URL))
    write_profile(ModelProfile(identity, "2026-11-22T10:00:00+00:00", {"careful": careful}))
    rag = opened()
    assert rag.backend.name.startswith(backend)
    assert rag.backend.name.endswith("builtin") is (careful != "off")
    assert ("play every role" in rag.notice) is (careful == "builtin")
    assert opened(careful="off").backend.name == opened(llm="ollama/tiny:8b", careful="off").backend.name


def test_what_the_user_has_set_holds(profile_file: Path) -> None:
    rag = opened(strategy="iterative", window_chars=4000, careful="off")
    assert (rag.settings.strategy, rag.settings.window_chars) == ("iterative", 4000)
    assert rag.notice == ""


def test_another_model_and_the_builtin_models_have_none(profile_file: Path) -> None:
    assert opened(llm="ollama/other:8b").settings.window_chars == 4000
    assert opened(llm="builtin").settings.strategy == "iterative"


def test_a_damaged_profile_is_told_and_not_used(profile_file: Path) -> None:
    profile_file.write_text("[", encoding="utf-8")
    rag = opened()
    assert rag.settings.window_chars == 4000
    assert f"rm '{profile_file}'" in rag.notice
