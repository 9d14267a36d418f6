"""Corpora of invented articles: any folder, two articles with a two-hop question and a model that plays every role."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.numbered_sentences import by_number


def index_articles(base: Path, corpus: str = "default") -> Path:
    """A data folder, `base`/home, in which `base`/articles is a corpus."""
    from iterative_rag.app.factory import index_paths
    from iterative_rag.settings import Settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(base / "home"))
        index_paths([base / "articles"], settings=Settings(corpus=corpus), corpus=corpus)
    return base / "home"


QUESTION = "Who is the mayor of the town where the Sunday bridge stands?"
TEXTS = {
    "Sunday_bridge.md": "# Sunday bridge\n\n| Sunday bridge | |\n|---|---|\n| Town | Aldermere |\n| Opened | 1310 |\n\n"
    "The Sunday bridge is a stone bridge in Aldermere. It is the oldest crossing of the river Wend.\n",
    "Aldermere.md": "# Aldermere\n\n| Aldermere | |\n|---|---|\n| Country | Vessel Isles |\n| Mayor | Edda Holm |\n\n"
    "Aldermere is a market town in the Vessel Isles. Its mayor is Edda Holm.\n",
}
FACTS = {
    "The Sunday bridge is a stone bridge in Aldermere.": "Aldermere",
    "Its mayor is Edda Holm.": "Edda Holm",
}


def write_articles(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")


def indexed_home(folder: Path, corpus: str = "default") -> Path:
    """A data folder below this one in which the two articles are a corpus."""
    write_articles(folder / "articles")
    return index_articles(folder, corpus)


def play(schema: Mapping[str, Any], prompt: str) -> str:
    """The reply of the role that asks with `schema`. It knows what stands in the prompt, and no more."""
    asked = schema["properties"]
    if "facts" in asked:
        found = [(quote, value) for quote, value in FACTS.items() if quote in prompt]
        facts = [{"statement": quote, "quote": quote, "value": value} for quote, value in found]
        return json.dumps(by_number({"facts": facts}, prompt))
    if "working" in asked:
        answer = {"answer": "The mayor of Aldermere [1] is Edda Holm [2].", "short_answer": "Edda Holm"}
        return json.dumps({"status": "answered", **answer, "confidence": 0.9})
    if "needs" in asked:
        if "Its mayor is Edda Holm." in prompt:
            return json.dumps({"status": "known", "needs": [], "question": "Who is the mayor of Aldermere?"})
        known = "stone bridge in Aldermere" in prompt
        need = "Who is the mayor of Aldermere?" if known else "In which town does the Sunday bridge stand?"
        return json.dumps({"status": "needs", "needs": [need], "question": need})
    return json.dumps({"question": "Who is the mayor of Aldermere?"})
