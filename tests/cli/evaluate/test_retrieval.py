"""`evaluate retrieval` over a corpus of two articles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import QUESTION

ASKED = {"question": QUESTION, "answer": "Edda Holm", "type": "bridge"}


def arguments(*rows: dict[str, Any]) -> tuple[str, ...]:
    """The command over these questions."""
    Path("asked.jsonl").write_text("\n".join(json.dumps(ASKED | row) for row in rows), encoding="utf-8")
    return "evaluate", "retrieval", "--dataset", "asked.jsonl", "--corpus", "default"


def test_a_named_corpus_with_what_it_lacks(run: Command, towns: None) -> None:
    measuring = arguments(
        {"id": "1", "gold_titles": ["Sunday bridge", "Aldermere", "Nowhere"]},
        {"id": "2", "gold_titles": ["Nowhere"]},
        {"id": "3"},
    )
    done = run(*measuring, "--k", "5,1,2", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["n"], found["excluded"], found["missing_gold"]) == (1, 2, 1)
    assert (found["k"], found["recall"], found["all_found"]["2"]) == ([1, 2, 5], {"1": 0.5, "2": 1.0, "5": 1.0}, 1.0)
    assert (found["map"], found["mrr"]) == (1.0, 1.0)
    assert (found["dataset"], found["corpus"]) == ("asked", "default")
    done = run(*measuring, "--k", "5,1,2")
    assert "1 question," in done.out
    assert "100.0 %" in done.out
    assert "no gold article: 2 questions." in done.err
    assert "'Nowhere'" in done.err


@pytest.mark.parametrize(
    ("options", "message"), [(("--k", "0"), "is not a list of depths"), ((), "holds no gold article")]
)
def test_what_cannot_be_measured(run: Command, towns: None, options: tuple[str, ...], message: str) -> None:
    done = run(*arguments({"gold_titles": ["Nowhere"]}), *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Hint:" in done.err
