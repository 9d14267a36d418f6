"""Settings: which layer wins, what is refused, and that no key is a setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.errors import SettingsError
from iterative_rag.settings import PRESETS, Settings, config_folder, load_settings


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_layer_beats_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def hops() -> int:
        return load_settings().max_hops

    assert hops() == Settings().max_hops
    Path("iterative-rag.toml").write_text('preset = "fast"\n')
    assert hops() == PRESETS["fast"]["max_hops"]
    user = config_folder() / "iterative-rag.toml"
    user.parent.mkdir(parents=True)
    user.write_text("max_hops = 11\n")
    assert hops() == 11
    Path("iterative-rag.toml").write_text("max_hops = 12\n")
    assert hops() == 12
    Path(".env").write_text("ITERATIVE_RAG_MAX_HOPS=13\n")
    assert hops() == 13
    monkeypatch.setenv("ITERATIVE_RAG_MAX_HOPS", "14")
    assert hops() == 14
    assert load_settings({"max_hops": 15}).max_hops == 15
    assert load_settings({"max_hops": None}).max_hops == 14


@pytest.mark.parametrize("layer", ["file", "environment", "call"])
def test_an_unknown_key_is_refused_with_the_nearest_name(layer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if layer == "file":
        Path("iterative-rag.toml").write_text("max_hop = 3\n")
    elif layer == "environment":
        monkeypatch.setenv("ITERATIVE_RAG_MAX_HOP", "3")
    with pytest.raises(SettingsError) as caught:
        load_settings({"max_hop": 3} if layer == "call" else None)
    assert "max_hop" in str(caught.value)
    assert "'max_hops'" in caught.value.hint


@pytest.mark.parametrize("text", ["max_hops = = 3", "max_hops = true", "timeout = false", "retries = [1]"])
def test_a_broken_file_is_an_error_that_names_it(text: str) -> None:
    Path("iterative-rag.toml").write_text(text)
    with pytest.raises(SettingsError, match=r"iterative-rag\.toml"):
        load_settings()


def test_the_key_is_not_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in load_settings().model_dump_json()
