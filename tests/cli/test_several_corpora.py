"""Several corpora asked at once: one ranking, citations that name their corpus, and the cache."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag import IterativeRAG, Within
from iterative_rag.app.factory import for_one_run, index_paths
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.corpus_names import encoded
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.joint_corpus import JointCorpus
from iterative_rag.settings import load_settings
from iterative_rag.types import Citation

TEXTS = {
    "towns": {"Aldermere.md": "# Aldermere\n\nThe mayor of Aldermere is Osric Vane.\n"},
    "people, dead": {
        "Osric_Vane.md": "# Osric Vane\n\nThe mother of Osric Vane was Edda Holm.\n",
        "Copy.md": "# Aldermere\n\nThe mayor of Aldermere is Osric Vane.\n",
    },
}
BOTH = "towns,people"


@pytest.fixture
def two(tmp_path: Path, run: Command) -> None:
    for name, texts in TEXTS.items():
        folder = tmp_path / name
        folder.mkdir()
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        assert run("index", str(folder), "--corpus", name.partition(",")[0], "--quiet").code == 0


def test_a_chain_is_followed_from_one_corpus_into_the_other(run: Command, two: None) -> None:
    question = "Who was the mother of the mayor of Aldermere?"
    for _ in range(2):  # the second time from the cache
        done = run("ask", question, "--corpus", BOTH, "--llm", "builtin", "--json")
        answer = json.loads(done.out)
        assert answer["short_answer"] == "Edda Holm", done.err
        assert {(one["title"], one["corpus"]) for one in answer["citations"]} == {
            ("Aldermere", "towns"),
            ("Osric Vane", "people"),
        }
        assert answer["settings"]["corpus"] == BOTH
    assert "people: people, dead/Osric_Vane.md" in run("ask", question, "--corpus", BOTH, "--llm", "builtin").out


def test_the_same_text_in_both_is_found_once(run: Command, two: None) -> None:
    hits = json.loads(run("search", "mayor of Aldermere", "--corpus", BOTH, "--json").out)
    assert sorted(hit["title"] for hit in hits) == ["Aldermere", "Osric Vane"]
    assert hits[0]["document_id"].startswith("towns/")


def test_a_part_may_lie_in_one_of_them(run: Command, two: None) -> None:
    hits = json.loads(run("search", "mother", "--corpus", BOTH, "--title", "Osric", "--json").out)
    assert [hit["title"] for hit in hits] == ["Osric Vane"]
    missed = run("search", "mother", "--corpus", BOTH, "--title", "Nowhere")
    assert (missed.code, "No document matches --title Nowhere" in missed.err) == (4, True)


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


def test_a_corpus_whose_name_holds_a_comma_is_one_and_no_new_one_is_made(
    run: Command, two: None, tmp_path: Path
) -> None:
    refused = run("index", str(tmp_path / "people, dead"), "--corpus", BOTH)
    assert refused.code == 2
    assert "--corpus towns" in refused.err
    assert run("index", str(tmp_path / "people, dead"), "--corpus", "older", "--quiet").code == 0
    held = Path(os.environ["ITERATIVE_RAG_HOME"]) / "corpora"
    (held / "older").rename(held / encoded(BOTH))
    assert run("index", str(tmp_path / "people, dead"), "--corpus", BOTH, "--quiet").code == 0
    hits = json.loads(run("search", "mother", "--corpus", BOTH, "--json").out)
    assert not any("/" in hit["document_id"] for hit in hits)


def test_python_lists_and_narrows_several_corpora(two: None) -> None:
    """It took one corpus only."""
    with IterativeRAG.from_settings(corpus=BOTH, llm="builtin") as rag:
        assert rag.titles() == ["Aldermere", "Aldermere", "Osric Vane"]
        chosen = rag.among("Osric Vane")
        assert [document.title for _, document in chosen.search("mayor of Aldermere")] == ["Osric Vane"]
        assert chosen.ask("Who was the mother of Osric Vane?").citations[0].corpus == "people"
        with pytest.raises(CorpusError, match="Nowhere"):
            rag.among("Nowhere")
        with pytest.raises(UsageError, match="does not list"):
            chosen.titles()


def test_a_file_that_was_indexed_twice_is_cited_from_the_corpus_that_holds_the_quote(
    tmp_path: Path, run: Command, two: None
) -> None:
    """Both are documents of one source: the citation named the corpus of which anything was read first."""
    page = tmp_path / "towns" / "Aldermere.md"
    page.write_text("# Aldermere\n\nThe mayor of Aldermere is Tilda Brand, who likes bridges.\n", encoding="utf-8")
    assert run("index", str(tmp_path / "towns"), "--corpus", "later", "--quiet").code == 0
    with IterativeRAG.from_settings(corpus="towns,later", llm="builtin") as rag, for_one_run(rag.corpus) as corpus:
        hits = corpus.search(["mayor of Aldermere"], 5)[0]
        read = [corpus.document(hit.document_id) for hit in hits]
        cited = [Citation(1, one.title, one.source, one.text[12:], 12, len(one.text)) for one in read]
        assert isinstance(corpus, JointCorpus)
        assert [corpus.corpus_of(one) for one in cited] == [one.id.partition("/")[0] for one in read]
        assert {one.id.partition("/")[0] for one in read} == {"towns", "later"}


def test_a_part_that_is_named_twice_counts_once(run: Command, two: None) -> None:
    with IterativeRAG.from_settings(corpus=BOTH, llm="builtin", within_title="Osric") as rag:
        answer = rag.ask("Who was the mother of Osric Vane?", within=Within(title="Osric"))
    assert answer.corpus_notice.count("--title Osric") == 1
