"""Several corpora asked at once: one ranking, citations that name their corpus, and the cache."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.hashing_embedder import HashingEmbedder
from fakes.two_corpora import BOTH, CITED, QUESTION, SHORT_ANSWER, index_two_corpora
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.settings import load_settings


@pytest.fixture
def two(tmp_path: Path) -> None:
    index_two_corpora(tmp_path)


def test_a_chain_is_followed_from_one_corpus_into_the_other(run: Command, two: None) -> None:
    asked = ("ask", QUESTION, "--corpus", BOTH, "--llm", "builtin")
    for _ in range(2):  # the second time from the cache
        done = run(*asked, "--json")
        answer = json.loads(done.out)
        assert answer["short_answer"] == SHORT_ANSWER, done.err
        assert {(one["title"], one["corpus"]) for one in answer["citations"]} == CITED
        assert answer["settings"]["corpus"] == BOTH
    assert "people: people/Osric Vane.md" in run(*asked).out


def test_the_same_text_in_both_is_found_once(run: Command, two: None) -> None:
    shutil.copy("towns/Aldermere.md", "people/Copy.md")
    assert run("index", "people", "--corpus", "people", "--quiet").code == 0
    hits = json.loads(run("search", "mayor of Aldermere", "--corpus", BOTH, "--json").out)
    assert sorted(hit["title"] for hit in hits) == ["Aldermere", "Osric Vane"]
    assert hits[0]["document_id"].startswith("towns/")


def test_what_cannot_be_asked_together_is_refused(run: Command, two: None, tmp_path: Path) -> None:
    question = "Who is the mayor of Aldermere?"
    missing = run("ask", question, "--corpus", "towns,cities", "--llm", "builtin")
    assert (missing.code, "There is no corpus 'cities'" in missing.err) == (4, True)
    index_paths([tmp_path / "towns"], settings=load_settings(), corpus="hashed", embedder=HashingEmbedder(64))
    other = run("ask", question, "--corpus", "towns,hashed", "--llm", "builtin")
    assert other.code == 4
    assert "'hashed' was indexed with the embedder hashing" in other.err
    assert "Corpora that are asked together need the same embedder." in other.err
    assert "iterative-rag index" in other.err


def test_python_lists_and_narrows_several_corpora(two: None) -> None:
    """It took one corpus only."""
    with IterativeRAG.from_settings(corpus=BOTH, llm="builtin") as rag:
        assert rag.titles() == ["Aldermere", "Osric Vane"]
        chosen = rag.among("Osric Vane")
        assert [document.title for _, document in chosen.search("mayor of Aldermere")] == ["Osric Vane"]
        assert chosen.ask("Who was the mother of Osric Vane?").citations[0].corpus == "people"
        with pytest.raises(CorpusError, match="Nowhere"):
            rag.among("Nowhere")
        with pytest.raises(UsageError, match="does not list"):
            chosen.titles()
