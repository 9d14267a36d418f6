"""Rewording a need without an LLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.app.factory import index_paths, open_corpus
from iterative_rag.builtin.reasoning.rewording import BuiltinRewriter
from iterative_rag.engine.corrector import search_reworded
from iterative_rag.protocols import Rewriter
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.settings import Settings
from iterative_rag.types import Need, Rewording, ShortlistedDocument

REWRITER: Rewriter = BuiltinRewriter()


def reword(question: str, *tried: str) -> Rewording:
    return REWRITER.reword(Need(question), tried)


def test_key_words_synonyms_and_the_subject() -> None:
    rewording = reword("Who is the wife of Ann Lee's uncle Bo Dahl?")
    assert "wife Ann Lee uncle Bo Dahl" in rewording.phrasings
    assert {"Ann", "Lee", "Bo", "Dahl", "spouse", "married"} <= set(rewording.phrasings[0].split())
    assert len(rewording.phrasings) <= 3
    assert reword("Where was Ann Lee born?").broader == "Ann Lee"
    assert reword("Who wrote the Lord of the Tides?").broader == "Lord of the Tides"
    assert reword("When was the Tower of Karsa finished?").broader == "Tower of Karsa"


def test_rewording_finds_a_document_that_shares_no_word_with_the_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    articles = tmp_path / "articles"
    articles.mkdir()
    need = Need("Which novelist was buried there?")
    texts = [f"A novelist told of which ship sank in the summer of {1800 + n}." for n in range(6)]
    texts += [f"There were chests buried by pirates in {1700 + n}." for n in range(6)]
    for n, text in enumerate([*texts, "The grave of Edda Holm, author and writer, lies by a wall."]):
        (articles / f"{n}.md").write_text(f"# Page {n}\n\n{text}\n", encoding="utf-8")
    settings = Settings(corpus="palace", cache=False)
    index_paths([articles], settings=settings, corpus="palace")
    corpus = open_corpus(settings)
    try:
        (plain,) = shortlist(corpus, [need], documents=4, passages=4)
        assert "Page 12" not in [entry.title for entry in plain]
        known = [entry.document_id for entry in plain]

        def unread(entry: ShortlistedDocument) -> ShortlistedDocument | None:
            return None if entry.document_id in known else entry

        rewording = REWRITER.reword(need, ())
        found = search_reworded(corpus, need, rewording, documents=4, passages=8, unread=unread, known=len(known))
        assert "Page 12" in [entry.title for entry in found]
        assert not {entry.document_id for entry in found} & set(known)
    finally:
        corpus.close()
