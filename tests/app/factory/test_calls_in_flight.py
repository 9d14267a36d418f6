"""How many reading calls a server gets at the same time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from fakes.case_corpus import CaseCorpus
from fakes.model_server import FakeServer

TOWNS = {name: f"# {name}\n\n{name} lies on the river Mell.\n" for name in ("Tarn", "Karsa", "Brell")}


def reply(body: Mapping[str, Any]) -> str:
    """Three needs, then nothing is found."""
    fields, user = body["format"]["properties"], body["messages"][-1]["content"]
    if "facts" in fields:
        return '{"facts": []}'
    if "working" in fields:
        return '{"status": "not_in_facts", "missing": "the mayors"}'
    needs = [] if "- Who" in user else [f"Who is the mayor of {name}?" for name in TOWNS]
    return json.dumps({"status": "needs" if needs else "stuck", "needs": needs, "question": "Who are they?"})


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> CaseCorpus:
    folder = tmp_path_factory.mktemp("towns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        for name, text in TOWNS.items():
            path = folder / "articles" / f"{name}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return CaseCorpus(folder / "articles", "towns")


@pytest.mark.parametrize(
    ("environment", "settings", "at_once"),
    [({}, {}, 1), ({"OLLAMA_NUM_PARALLEL": "2"}, {}, 2), ({}, {"calls_in_flight": 3}, 3)],
    ids=["one", "as the server says", "as the user says"],
)
def test_an_ollama_server_of_this_machine_gets_as_many_calls_as_it_works_on(
    towns: CaseCorpus,
    monkeypatch: pytest.MonkeyPatch,
    environment: Mapping[str, str],
    settings: Mapping[str, Any],
    at_once: int,
) -> None:
    with FakeServer(reply=reply, latency=0.15) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with towns.opened("ollama/tiny:1b", cache=False, documents_per_call=1, **settings) as rag:
            rag.ask("Who are the mayors of Tarn, Karsa and Brell?")
    assert server.peak == at_once
