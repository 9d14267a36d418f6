"""How many documents are read in one call of a model behind a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from fakes.case_corpus import CaseCorpus
from fakes.model_server import FakeServer
from iterative_rag.types import Answer

QUESTION = "What are the towers on the river Mell?"
TOWERS = {
    name: f"{name} is one of the towers on the river Mell." for name in ("Tarn Keep", "Karsa Gate", "Brell Spire")
}


def reply(body: Mapping[str, Any]) -> str:
    """Needs what is asked, and reads every tower in a document."""
    fields, user = body["format"]["properties"], body["messages"][-1]["content"]
    if "facts" in fields:
        rows = re.findall(r"(\w+ \w+) is one of the towers on the river Mell\.", user)
        quotes = [(name, f"{name} is one of the towers on the river Mell.") for name in rows]
        facts = [{"statement": quote, "quote": quote, "need": [1], "value": name} for name, quote in quotes]
        return json.dumps({"facts": facts})
    if "working" in fields:
        names = sorted({name for name in TOWERS if name in user})
        marks = "".join(f"[{n}]" for n in range(1, len(names) + 1))
        told = f"The towers on the river Mell are {', '.join(names)} {marks}."
        return json.dumps({"status": "answered", "answer": told, "short_answer": ", ".join(names), "confidence": 0.9})
    known = "is one of the towers" in user
    return json.dumps({"status": "known" if known else "needs", "needs": [] if known else [QUESTION]})


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> CaseCorpus:
    folder = tmp_path_factory.mktemp("towers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        for name, text in TOWERS.items():
            path = folder / "articles" / f"{name}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
        return CaseCorpus(folder / "articles", "towers")


def asked(towers: CaseCorpus, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> tuple[Answer, int]:
    """The answer, and the calls that read documents."""
    with FakeServer(reply=reply) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        with towers.opened("ollama/tiny:1b", cache=False, **settings) as rag:
            answer = rag.ask(QUESTION)
        return answer, sum("facts" in seen.body["format"]["properties"] for seen in server.calls("/api/chat"))


def test_a_list_is_read_in_one_call_with_the_same_facts(towers: CaseCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    (singly, three), (shared, one) = (asked(towers, monkeypatch, documents_per_call=n) for n in (1, 4))
    assert (three, one) == (3, 1)
    quotes = [{(cited.title, cited.quote) for cited in answer.citations} for answer in (singly, shared)]
    assert quotes[0] == quotes[1] != set()
    assert singly.short_answer == shared.short_answer == ", ".join(sorted(TOWERS))
