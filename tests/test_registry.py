"""The tables of replaceable parts: every entry can be imported, and what users choose from is read from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iterative_rag.errors import SettingsError, UsageError
from iterative_rag.evaluation.answer_modes import AUTO, ORACLE, modes
from iterative_rag.index.vector_store import places_at
from iterative_rag.registry import SEARCH_ENGINES, STRATEGIES, TABLES, Registry
from iterative_rag.remote.api_keys import SECRETS
from iterative_rag.settings import load_settings
from iterative_rag.settings.layers import sends
from iterative_rag.sources.search_engines import search_engine

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.kind)
def test_every_entry_leads_to_its_part(table: Registry) -> None:
    assert all(table.load(entry.name) is not None for entry in table if entry.target)


def test_a_name_that_is_not_registered_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="There is no strategy 'magic'") as refused:
        STRATEGIES.load("magic")
    assert refused.value.hint == "Use naive, crag, plan, self-rag, iterative, full, agent or closed-book."


def test_settings_offer_the_registered_strategies() -> None:
    for name in STRATEGIES.offered:
        assert load_settings({"strategy": name}).strategy == name
    assert "closed-book" not in STRATEGIES.offered
    with pytest.raises(SettingsError, match=r"it must be 'naive', 'crag', .* or 'agent'"):
        load_settings({"strategy": "closed-book"})


def test_a_store_is_chosen_by_the_scheme_of_its_address(tmp_path: Path) -> None:
    for address, name in (
        ("local", "local"),
        ("", "local"),
        (" qdrant://h:1 ", "qdrant://h:1/iterative-rag-mine"),
        ("QDRANTS://h:1/c", "qdrants://h:1/c"),
    ):
        assert places_at(address)("mine", tmp_path).name == name
    for address in ("qdrant", "local://here", "http://user:secret@h:6333", "somewhere"):
        with pytest.raises(UsageError, match="--index cannot be") as refused:
            places_at(address)
        assert refused.value.hint == "Use local or qdrant://HOST:6333."
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("engine", ["bing", "tavily@http://h", "wikipedia@https://me:secret@h/api.php", "searxng"])
def test_a_search_engine_that_cannot_be_says_which_can(engine: str) -> None:
    with pytest.raises(UsageError) as refused:
        search_engine(engine, "a test")
    assert "searxng@http://HOST:8888" in refused.value.hint
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_the_keys_of_all_parts_are_secrets() -> None:
    assert {"OPENAI_API_KEY", "OLLAMA_API_KEY", "QDRANT_API_KEY", "TAVILY_API_KEY"} < set(SECRETS)


def test_only_local_parts_may_be_chosen_by_a_folder_that_is_not_trusted() -> None:
    assert not any(sends(key, "builtin") for key in ("llm", "fast_llm", "embedder"))
    assert not sends("index", "local")
    assert all(sends("search_engine", entry.name) for entry in SEARCH_ENGINES)
    assert sends("llm", "auto")


def test_evaluation_measures_every_strategy() -> None:
    assert modes() == (*STRATEGIES.names, ORACLE, AUTO)


def test_the_pages_list_the_registered_strategies() -> None:
    page = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)`", page, flags=re.MULTILINE)) == set(STRATEGIES.offered)
    assert f"--strategy {'|'.join(STRATEGIES.offered)}`" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
