"""Retrieval figures against values worked out by hand, rankings against brute force, and the command."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes import two_article_corpus
from fakes.in_memory import index_documents
from iterative_rag.cli import main
from iterative_rag.errors import LLMServerError, LLMUnreachable
from iterative_rag.errors.installation import install_command
from iterative_rag.evaluation.metrics.retrieval_metrics import (
    Ranking,
    Target,
    figures,
    iterative,
    merged,
    single,
    targets,
)
from iterative_rag.evaluation.metrics.search_modes import Search
from iterative_rag.evaluation.questions import Question
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.types import Document, Hit, Need, ReadingStep, ShortlistedDocument, ShortlistStep, Step


def asked(text: str, *gold: str) -> Target:
    return Target(Question(text, text, ()), gold)


# --- the figures -----------------------------------------------------------------------------

RANKINGS = [
    # AP: (1/2 + 2/4) / 2
    Ranking(asked("1", "a", "b"), ("x", "a", "y", "b")),
    Ranking(asked("2", "c"), ("c", "x")),
    # nothing found at all
    Ranking(asked("3", "d", "e", "f"), ()),
    # AP: (1/1 + 2/3) / 2
    Ranking(asked("4", "g", "h"), ("g", "x", "h")),
]


def test_figures_are_those_worked_out_by_hand() -> None:
    found = figures(RANKINGS, [1, 2, 4])
    assert found["n"] == 4
    assert found["recall"] == pytest.approx({"1": (0 + 1 + 0 + 0.5) / 4, "2": (0.5 + 1 + 0.5) / 4, "4": 3 / 4})
    assert found["all_found"] == pytest.approx({"1": 1 / 4, "2": 1 / 4, "4": 3 / 4})
    assert found["map"] == pytest.approx((1 / 2 + 1 + 0 + 5 / 6) / 4)
    assert found["mrr"] == pytest.approx((1 / 2 + 1 + 0 + 1) / 4)
    assert list(found["by_gold"]) == ["1", "2", "3"]
    two = found["by_gold"]["2"]
    assert (two["n"], two["recall"]["4"], two["all_found"]["2"]) == (2, 1.0, 0.0)
    assert two["map"] == pytest.approx((1 / 2 + 5 / 6) / 2)
    assert found["by_gold"]["3"]["mrr"] == 0
    for measure in ("map", "mrr"):
        low, high = found["intervals"][measure]
        assert 0 <= low < found[measure] < high <= 1
    assert {*found["intervals"]["recall"]} == {"1", "2", "4"}
    assert "listed" not in found


def test_the_order_of_questions_and_strange_ids_change_nothing() -> None:
    first = figures(RANKINGS, [2])
    renamed = [Ranking(Target(Question(" ", "", ()), one.target.gold), one.documents) for one in reversed(RANKINGS)]
    again = figures(renamed, [2])
    assert {**again, "intervals": 0} == {**first, "intervals": 0}


def test_no_question_and_no_finding() -> None:
    assert figures([], [5]) == {"n": 0}
    nothing = figures([Ranking(asked("1", "a"), ())], [5])
    assert (nothing["recall"], nothing["map"], nothing["mrr"]) == ({"5": 0.0}, 0.0, 0.0)


def test_a_loop_is_also_measured_by_all_that_it_listed_and_read() -> None:
    followed = [
        Ranking(asked("1", "a", "b"), ("x",), frozenset("xab"), frozenset("a")),
        Ranking(asked("2", "c"), ("c",), frozenset("c"), frozenset(), "a fault"),
    ]
    found = figures(followed, [1])
    assert (found["listed"]["recall"], found["listed"]["all_found"], found["listed"]["documents"]) == (1.0, 1.0, 2.0)
    assert (found["read"]["recall"], found["read"]["all_found"], found["read"]["documents"]) == (0.25, 0.0, 0.5)
    assert found["faults"] == 1
    assert found["recall"] == {"1": 0.5}


def test_questions_without_gold_are_left_out_and_single_titles_counted() -> None:
    resolved = {"1": (("a",), ("B",)), "2": ((), ("C", "D")), "3": ((), ()), "4": (("e", "f"), ())}
    questions = [Question(name, name, ()) for name in resolved]
    found = targets(questions, lambda question: resolved[question.id])
    assert [(one.question.id, one.gold) for one in found.found] == [("1", ("a",)), ("4", ("e", "f"))]
    assert (found.excluded, found.missing) == (2, ("B",))


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


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        # a: 0.5 + 0.05 / 5; b: 0.4 + 0.05 / 4; c: 0.2 + 0.05 / 4
        (Search.HYBRID, ("a", "b", "c")),
        (Search.DENSE, ("b", "a")),
        (Search.BM25, ("c", "a", "b")),
    ],
)
def test_documents_stand_where_their_best_passage_does(search: Search, expected: tuple[str, ...]) -> None:
    corpus = Ranked(HITS)
    [ranking] = single([asked("q", "a")], lambda _: corpus, depth=5, search=search)
    assert ranking.documents == expected
    [short] = single([asked("q", "a")], lambda _: corpus, depth=1, search=search)
    assert short.documents == expected[:1]


def test_queries_go_in_batches_and_each_to_its_own_corpus() -> None:
    corpora = {name: Ranked([hit(name, 0.5, 1, 1)]) for name in "xyz"}
    wanted = [
        asked(f"{name}{n}", name) for name, count in (("x", 70), ("y", 1), ("x", 2), ("z", 3)) for n in range(count)
    ]
    seen: list[tuple[int, int]] = []
    found = single(wanted, lambda question: corpora[question.text[0]], depth=3, progress=lambda *at: seen.append(at))
    assert [(one.target, one.documents) for one in found] == [(target, (target.question.text[0],)) for target in wanted]
    assert [query for part in corpora["x"].asked for query in part] == [
        one.question.text for one in wanted[:70] + wanted[71:73]
    ]
    assert all(len(part) <= 32 for part in corpora["x"].asked)
    assert len(corpora["x"].asked) == math.ceil(70 / 32) + 1
    assert seen[-1] == (76, 76)


def test_the_dense_half_alone_is_the_order_of_all_cosines(tmp_path: Path) -> None:
    """Also where BM25 prefers so many others that a short list of fused hits would not hold the dense ones."""
    draw = np.random.default_rng(5)
    words = [f"word{n}" for n in range(40)]
    documents = [Document(f"d{n:03}", f"D{n}", " ".join(draw.choice(words, 12)), "memory") for n in range(300)]
    embedder, corpora = HashingEmbedder(512), Corpora(tmp_path / "corpora")
    index_documents(corpora, "many", documents, embedder)
    query = " ".join(words[:9])
    with closing(corpora.open("many", embedder)) as corpus:
        [ranking] = single([asked(query, "d000")], lambda _: corpus, depth=20, search=Search.DENSE)
        texts = [corpus.passages(document.id)[0].embedded_text for document in documents]
    cosines = dict(
        zip([one.id for one in documents], embedder.embed_documents(texts) @ embedder.embed_query(query), strict=True)
    )
    best = sorted(cosines.values(), reverse=True)[:20]
    assert [float(cosines[one]) for one in ranking.documents] == pytest.approx([float(value) for value in best])


# --- the loop --------------------------------------------------------------------------------


def listing(hop: int, *documents: str, wider: bool = False) -> ShortlistStep:
    entries = tuple(ShortlistedDocument(one, one, "memory", 0.5, (hit(one, 0.5, 1, 1),)) for one in documents)
    return ShortlistStep(hop, Need(f"need {documents}"), entries, wider)


def reading(hop: int, *documents: str) -> ReadingStep:
    return ReadingStep(hop, Need("need"), (), len(documents), 0, 0, 0, (), documents)


def test_lists_are_merged_by_rank_and_the_first_place_counts() -> None:
    assert merged([("a", "b", "c"), (), ("d", "a", "e", "f"), ("b",)]) == ("a", "d", "b", "c", "e", "f")
    assert merged([]) == ()


def test_the_lists_of_all_needs_and_hops_make_one_ranking() -> None:
    def loop(question: Question) -> Iterator[Step]:
        yield listing(1, "a", "b", "c")
        yield listing(1, "d", "e")
        yield reading(1, "a", "d")
        yield listing(2, "f", "a", wider=True)
        yield reading(2, "f")

    [ranking] = iterative([asked("q", "f")], loop, depth=4)
    assert ranking.documents == ("a", "d", "f", "b")
    assert (ranking.listed, ranking.read, ranking.fault) == (frozenset("abcdef"), frozenset("adf"), "")


def test_a_fault_keeps_what_was_listed_and_a_missing_server_ends_it_all() -> None:
    def failing(error: Exception) -> Callable[[Question], Iterator[Step]]:
        def loop(question: Question) -> Iterator[Step]:
            yield listing(1, "a")
            if question.text == "bad":
                raise error
            yield listing(2, "b")

        return loop

    wanted = [asked("bad", "a"), asked("good", "b")]
    bad, good = iterative(wanted, failing(LLMServerError("no", status=500)), depth=5)
    assert (bad.documents, bad.fault) == (("a",), "LLMServerError: no")
    assert (good.documents, good.fault) == (("a", "b"), "")
    with pytest.raises(LLMUnreachable):
        iterative(wanted, failing(LLMUnreachable("gone")), depth=5)


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
        {**QUESTION, "id": "1", "gold_titles": ["Sunday bridge", "Old Aldermere", "Nowhere"]},
        {**QUESTION, "id": "2", "gold_titles": ["Nowhere"]},
        {**QUESTION, "id": "3"},
        {**QUESTION, "id": "4", "type": "other", "gold_titles": ["Nowhere"]},
    )
    renamed = written(tmp_path / "renamed.json", {"Old Aldermere": "Aldermere"})
    arguments = (
        "--dataset",
        dataset,
        "--corpus",
        articles,
        "--redirects",
        renamed,
        "--types",
        "Bridge",
        "--k",
        "5,1,2",
    )
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n"], found["excluded"], found["missing_gold"]) == (1, 2, 1)
    assert (found["k"], found["recall"], found["all_found"]["2"]) == ([1, 2, 5], {"1": 0.5, "2": 1.0, "5": 1.0}, 1.0)
    assert (found["map"], found["mrr"], found["by_gold"]["2"]["n"]) == (1.0, 1.0, 1)
    assert (found["dataset"], found["corpus"], found["hops"], found["search"]) == ("asked", "towns", "single", "hybrid")
    code, out, err = run(*arguments)
    assert code == 0
    assert "1 question," in out
    assert "100.0 %" in out
    assert "no gold article: 2 questions." in err
    assert "'Nowhere'" in err


def test_pooled_and_own_paragraphs(run: Callable[..., Any], tmp_path: Path) -> None:
    """In the pool the other question's paragraph is in the way; among its own ones a question has them all."""

    def paragraphs(*texts: str) -> list[dict[str, Any]]:
        return [{"title": f"Note {n}", "text": text, "supporting": not n} for n, text in enumerate(texts)]

    question = "Who repaired the copper weathercock?"
    dataset = written(
        tmp_path / "hops.jsonl",
        {"question": question, "answer": "x", "paragraphs": paragraphs("Olin Brandt was a smith.", "A lake.")},
        {"question": "Who repaired it?", "answer": "y", "paragraphs": paragraphs(f"{question} Nobody.", "A field.")},
    )
    figures: dict[tuple[str, Search], Any] = {}
    for corpus in ("pooled", "own"):
        for search in Search:
            code, out, err = run("--dataset", dataset, "--corpus", corpus, "--k", "1,2", "--search", search, "--json")
            assert code == 0, err
            figures[corpus, search] = json.loads(out)
    for search in Search:
        assert figures["pooled", search]["n"] == 2
        assert figures["pooled", search]["recall"]["1"] == 0.5
    assert figures["own", Search.DENSE]["all_found"]["2"] == 1.0
    assert figures["own", Search.HYBRID]["corpus"].startswith("pool-hops-")


def test_the_reader_ranks_again_where_it_is_asked_to(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that likes the paragraph which both halves put last shows that its ranking counts."""

    class Likes:
        name = "likes"

        def __init__(self, cache: object = None) -> None:
            """Nothing is kept."""

        def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
            return [float(title == "Lake") for title, _ in passages]

    monkeypatch.setattr("iterative_rag.builtin.reasoning.reader_roles.ReaderRoles", Likes)
    question = "Who repaired the copper weathercock?"
    text = "repaired the copper weathercock."
    others = [{"title": f"Note {n}", "text": f"{n} {text}", "supporting": False} for n in range(12)]
    paragraphs = [*others, {"title": "Lake", "text": "A lake and its weathercock.", "supporting": True}]
    dataset = written(tmp_path / "asked.jsonl", {"question": question, "answer": "x", "paragraphs": paragraphs})
    asked = ("--dataset", dataset, "--corpus", "own")
    measured = {}
    for rerank in ("none", "reader"):
        code, out, err = run(*asked, "--rerank", rerank, "--json")
        assert code == 0, err
        measured[rerank] = json.loads(out)
    assert measured["reader"]["mrr"] > measured["none"]["mrr"]
    assert [found["rerank"] for found in measured.values()] == ["none", "reader"]
    assert "reranked by the reader" in run(*asked, "--rerank", "reader")[1]
    monkeypatch.setenv("ITERATIVE_RAG_RERANK", "reader")
    assert json.loads(run(*asked, "--json")[1])["mrr"] == measured["reader"]["mrr"]
    assert json.loads(run(*asked, "--search", "dense", "--json")[1])["rerank"] == "none"


def test_the_hops_of_the_loop(run: Callable[..., Any], tmp_path: Path, articles: str) -> None:
    dataset = written(tmp_path / "asked.jsonl", {**QUESTION, "gold_titles": ["Sunday bridge", "Aldermere"]})
    code, out, err = run("--dataset", dataset, "--corpus", articles, "--hops", "iterative", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["backend"], found["faults"], found["n"]) == ("builtin", 0, 1)
    assert (found["listed"]["recall"], found["read"]["all_found"], found["read"]["documents"]) == (1.0, 1.0, 2.0)
    assert found["recall"]["2"] == 1.0
    assert "listed" in run("--dataset", dataset, "--corpus", articles, "--hops", "iterative")[1]


def test_without_the_extra_it_says_what_to_install(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    code, _, err = run("--dataset", written(tmp_path / "asked.jsonl", QUESTION), "--corpus", "towns")
    assert code == 2
    assert install_command("evaluate") in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--k", "0"), "is not a list of depths"),
        (("--k", "2,x"), "is not a list of depths"),
        (("--k", ""), "--k is empty"),
        (("--hops", "iterative", "--search", "bm25"), "searches with both halves"),
        (("--rerank", "reader", "--search", "dense"), "fused with both halves"),
        (("--types", "none"), "no questions of the type"),
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
