"""Retrieval figures against values worked out by hand, rankings against brute force, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes import two_article_corpus
from iterative_rag.cli import main
from iterative_rag.evaluation.questions import Question
from iterative_rag.evaluation.retrieval_metrics import Ranking, figures, single
from iterative_rag.types import Document, Hit

# --- the figures -----------------------------------------------------------------------------

RANKINGS = [
    # AP: (1/2 + 2/4) / 2
    Ranking(("a", "b"), ("x", "a", "y", "b")),
    Ranking(("c",), ("c", "x")),
    # nothing found at all
    Ranking(("d", "e", "f"), ()),
    # AP: (1/1 + 2/3) / 2
    Ranking(("g", "h"), ("g", "x", "h")),
]


def test_figures_are_those_worked_out_by_hand() -> None:
    found = figures(RANKINGS, [1, 2, 4])
    assert found["n"] == 4
    assert found["recall"] == pytest.approx({"1": (0 + 1 + 0 + 0.5) / 4, "2": (0.5 + 1 + 0.5) / 4, "4": 3 / 4})
    assert found["all_found"] == pytest.approx({"1": 1 / 4, "2": 1 / 4, "4": 3 / 4})
    assert found["map"] == pytest.approx((1 / 2 + 1 + 0 + 5 / 6) / 4)
    assert found["mrr"] == pytest.approx((1 / 2 + 1 + 0 + 1) / 4)
    for measure in ("map", "mrr"):
        low, high = found["intervals"][measure]
        assert 0 <= low < found[measure] < high <= 1
    assert {*found["intervals"]["recall"]} == {"1", "2", "4"}


# --- one query -------------------------------------------------------------------------------


class Ranked:
    """A corpus whose search gives the same hits for every query."""

    name = fingerprint = "ranked"

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = list(hits)
        self.asked: list[list[str]] = []

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        self.asked.append(list(queries))
        return [self.hits[:limit] for _ in queries]

    def document(self, document_id: str) -> Document:
        return Document(document_id, document_id, "", "memory")

    def close(self) -> None:
        pass


def hit(document: str, score: float, dense: int | None, sparse: int | None) -> Hit:
    return Hit(document, document, 0, 1, score, dense, sparse)


HITS = [hit("a", 0.5, 3, 2), hit("b", 0.4, 1, None), hit("a", 0.3, 2, 9), hit("c", 0.2, None, 1), hit("b", 0.1, 9, 3)]


def test_documents_stand_where_their_best_passage_does() -> None:
    """a: 0.5 + 0.05 / 5; b: 0.4 + 0.05 / 4; c: 0.2 + 0.05 / 4"""
    corpus = Ranked(HITS)
    for depth, documents in ((5, ("a", "b", "c")), (1, ("a",))):
        assert single([(Question("q", "q", ()), ("a",))], lambda _: corpus, depth=depth) == [Ranking(("a",), documents)]


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`evaluate retrieval` in this process: its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "retrieval", *arguments])
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def written(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


@pytest.fixture
def articles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The corpus `towns`, indexed."""
    two_article_corpus.write_articles(tmp_path / "articles")
    with pytest.raises(SystemExit):
        main(["index", str(tmp_path / "articles"), "--corpus", "towns", "--quiet"])
    capsys.readouterr()
    return "towns"


QUESTION = {"question": two_article_corpus.QUESTION, "answer": "Edda Holm", "type": "bridge"}


def test_a_named_corpus_with_what_it_lacks(run: Callable[..., Any], tmp_path: Path, articles: str) -> None:
    dataset = written(
        tmp_path / "asked.jsonl",
        {**QUESTION, "id": "1", "gold_titles": ["Sunday bridge", "Aldermere", "Nowhere"]},
        {**QUESTION, "id": "2", "gold_titles": ["Nowhere"]},
        {**QUESTION, "id": "3"},
    )
    arguments = (
        "--dataset",
        dataset,
        "--corpus",
        articles,
        "--k",
        "5,1,2",
    )
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n"], found["excluded"], found["missing_gold"]) == (1, 2, 1)
    assert (found["k"], found["recall"], found["all_found"]["2"]) == ([1, 2, 5], {"1": 0.5, "2": 1.0, "5": 1.0}, 1.0)
    assert (found["map"], found["mrr"]) == (1.0, 1.0)
    assert (found["dataset"], found["corpus"]) == ("asked", "towns")
    code, out, err = run(*arguments)
    assert code == 0
    assert "1 question," in out
    assert "100.0 %" in out
    assert "no gold article: 2 questions." in err
    assert "'Nowhere'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--k", "0"), "is not a list of depths"),
        ((), "holds no gold article"),
    ],
)
def test_what_cannot_be_measured(
    run: Callable[..., Any], tmp_path: Path, articles: str, arguments: tuple[str, ...], message: str
) -> None:
    dataset = written(tmp_path / "asked.jsonl", {**QUESTION, "gold_titles": ["Nowhere"]})
    code, out, err = run("--dataset", dataset, "--corpus", articles, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Hint:" in err
