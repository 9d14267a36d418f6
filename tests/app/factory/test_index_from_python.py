"""`IterativeRAG.index` and `rag.index`: documents of a program into a corpus, with an embedding object of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core import SimpleDirectoryReader
from llama_index.core.schema import Document as LlamaIndexDocument

from fakes import two_article_corpus
from fakes.llama_index_models import two_article_llm, word_embedding
from iterative_rag import Answer, IterativeRAG
from iterative_rag.app.factory import corpora
from iterative_rag.errors import CorpusError, CorpusMismatch, UsageError
from iterative_rag.types import Document

BRIDGE, TOWN = two_article_corpus.TEXTS.values()
ARTICLES = [Document("bridge", "Sunday bridge", BRIDGE, "memory"), Document("town", "Aldermere", TOWN, "memory")]


def asked() -> Answer:
    with IterativeRAG.from_settings(llm=two_article_llm(), corpus="mine", embed_model=word_embedding()) as rag:
        return rag.ask(two_article_corpus.QUESTION)


def titles() -> list[str]:
    with IterativeRAG.from_settings(llm="builtin", corpus="mine", embed_model=word_embedding()) as rag:
        return rag.titles()


def test_a_new_corpus_with_an_embedding_object_is_indexed_and_asked() -> None:
    report = IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    assert (report.added, report.changed, report.skipped) == (2, 0, ())
    answer = asked()
    assert answer.short_answer == "Edda Holm"
    assert [citation.title for citation in answer.citations] == ["Sunday bridge", "Aldermere"]


def test_an_open_corpus_takes_more_documents_and_finds_them_at_once() -> None:
    IterativeRAG.index(ARTICLES[:1], corpus="mine", embed_model=word_embedding())
    with IterativeRAG.from_settings(llm=two_article_llm(), corpus="mine", embed_model=word_embedding()) as rag:
        assert rag.ask(two_article_corpus.QUESTION).short_answer == ""
        report = rag.index(ARTICLES[1:])
        assert (report.added, report.removed) == (1, 0)
        assert rag.ask(two_article_corpus.QUESTION).short_answer == "Edda Holm"
    assert corpora().info("mine").embedder == "WordEmbedding/words"


def test_documents_of_a_reader_are_known_again_although_their_ids_are_drawn_anew(tmp_path: Path) -> None:
    two_article_corpus.write_articles(tmp_path / "articles")

    def read() -> list[LlamaIndexDocument]:
        return SimpleDirectoryReader(str(tmp_path / "articles")).load_data()

    ids = {document.id_ for document in read()} & {document.id_ for document in read()}
    assert not ids, "the reader keeps its ids: this test has nothing to show"
    IterativeRAG.index(read(), corpus="mine", embed_model=word_embedding())
    again = IterativeRAG.index(read(), corpus="mine", embed_model=word_embedding())
    assert (again.added, again.changed, again.unchanged, again.removed) == (0, 0, 2, 0)
    assert titles() == ["Aldermere", "Sunday bridge"]
    (_, citation) = asked().citations
    assert Path(citation.source).name == "Aldermere.md"


def test_another_embedder_never_drops_what_was_given_before() -> None:
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    with pytest.raises(CorpusMismatch) as raised:
        IterativeRAG.index(ARTICLES[:1], corpus="mine", embed_model=word_embedding(32))
    assert "replace=True" in raised.value.hint
    assert titles() == ["Aldermere", "Sunday bridge"]
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding(32), replace=True)
    assert corpora().info("mine").documents == 2


def test_what_is_no_document_is_refused() -> None:
    with pytest.raises(UsageError, match="A int is not a document"):
        IterativeRAG.index([7], corpus="mine")
    with pytest.raises(CorpusError, match="Nothing could be indexed"):
        IterativeRAG.index([LlamaIndexDocument(text="")], corpus="mine", embed_model=word_embedding())
    with pytest.raises(UsageError, match="nothing to index"):
        IterativeRAG.index([], corpus="mine")


def test_a_title_and_a_text_are_a_document_and_an_answer_prints_as_a_person_reads_it() -> None:
    given = [Document(title="Sunday bridge", text=BRIDGE), Document(title="Aldermere", text=TOWN)]
    report = IterativeRAG.index([*given, Document(title="Aldermere", text="A hamlet.")], corpus="mine", llm="builtin")
    assert (report.added, report.skipped) == (3, ())
    assert IterativeRAG.index(given, corpus="mine", llm="builtin").unchanged == 2
    with IterativeRAG.from_settings(llm="builtin", corpus="mine") as rag:
        said = str(rag.ask("Who is the mayor of Aldermere?")).splitlines()
        declined = str(rag.ask("Who painted the ceiling of the winter palace in Quorn?"))
    assert said[0].startswith("The mayor of Aldermere is Edda Holm [1]. (")
    assert said[1].startswith("[1] Aldermere: “")
    assert declined.startswith("Not found in the corpus: Nothing near was found")
