"""`IterativeRAG.index` and `rag.index`: documents of a program into a corpus, with an embedding object of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core import SimpleDirectoryReader
from llama_index.core.schema import Document as LlamaIndexDocument
from llama_index.core.schema import TextNode

from fakes import two_article_corpus
from fakes.llama_index_models import ArticleLLM, two_article_llm, word_embedding
from iterative_rag import Answer, IterativeRAG
from iterative_rag.app.factory import corpora, index_paths, stale
from iterative_rag.errors import CorpusError, CorpusMismatch, SettingsError, UsageError
from iterative_rag.settings import load_settings
from iterative_rag.types import Document

BRIDGE, TOWN = two_article_corpus.TEXTS.values()
ARTICLES = [Document("bridge", "Sunday bridge", BRIDGE, "memory"), Document("town", "Aldermere", TOWN, "memory")]


def asked() -> Answer:
    with IterativeRAG.from_settings(llm=two_article_llm(), corpus="mine", embed_model=word_embedding()) as rag:
        return rag.ask(two_article_corpus.QUESTION)


def titles() -> list[str]:
    return corpora().titles("mine", "", 10)


def test_a_new_corpus_with_an_embedding_object_is_indexed_and_asked() -> None:
    report = IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    assert (report.added, report.changed, report.skipped) == (2, 0, ())
    answer = asked()
    assert answer.short_answer == "Edda Holm"
    assert [citation.title for citation in answer.citations] == ["Sunday bridge", "Aldermere"]


def test_an_llm_object_writes_questions_for_the_passages_of_a_new_corpus() -> None:
    settings = load_settings({"corpus": "mine", "index_questions": 1})
    report = IterativeRAG.index(ARTICLES, settings=settings, embed_model=word_embedding(), llm=ArticleLLM())
    assert report.questions is not None
    assert report.questions.written == report.questions.calls == 2
    with IterativeRAG.from_settings(settings, llm=ArticleLLM(), embed_model=word_embedding()) as rag:
        assert rag.search("Who leads it?", 1)[0][1].title in ("Aldermere", "Sunday bridge")


def test_an_open_corpus_takes_more_documents_and_finds_them_at_once() -> None:
    IterativeRAG.index(ARTICLES[:1], corpus="mine", embed_model=word_embedding())
    with IterativeRAG.from_settings(llm=two_article_llm(), corpus="mine", embed_model=word_embedding()) as rag:
        assert rag.ask(two_article_corpus.QUESTION).short_answer == ""
        report = rag.index(ARTICLES[1:])
        assert (report.added, report.removed) == (1, 0)
        assert rag.ask(two_article_corpus.QUESTION).short_answer == "Edda Holm"
    assert corpora().info("mine").embedder == "WordEmbedding/words"


def test_what_was_given_before_stays_unless_it_is_replaced() -> None:
    first, second = ARTICLES
    IterativeRAG.index([first], corpus="mine", embedder="builtin")
    IterativeRAG.index([second], corpus="mine")
    assert titles() == ["Aldermere", "Sunday bridge"]
    report = IterativeRAG.index([second], corpus="mine", replace=True)
    assert (report.unchanged, report.removed, titles()) == (1, 1, ["Aldermere"])
    assert corpora().info("mine").state == "ready"


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


def test_titles_addresses_and_ids_come_from_what_a_document_tells() -> None:
    given = [
        LlamaIndexDocument(text="Berlin ( bur-LIN) is the capital of Germany.", id_="3354"),  # as WikipediaReader does
        LlamaIndexDocument(text="It is old.", metadata={"title": "Pont", "url": "https://example.org/pont"}),
        LlamaIndexDocument(text="Page one.", metadata={"file_path": "/a/Old_report.pdf", "page_label": "1"}),
        LlamaIndexDocument(text="Page two.", metadata={"file_path": "/a/Old_report.pdf", "page_label": "2"}),
        LlamaIndexDocument(text="A row.", metadata={"file_path": "/a/rows.csv"}),
        LlamaIndexDocument(text="Another row.", metadata={"file_path": "/a/rows.csv"}),
        TextNode(text="# Notes\n\nA node."),
        LlamaIndexDocument(text="  "),
    ]
    report = IterativeRAG.index(given, corpus="mine", embed_model=word_embedding())
    assert (report.added, len(report.skipped)) == (7, 1)
    expected = ["Berlin", "Notes", "Old report, page 1", "Old report, page 2", "Pont", "rows"]
    assert sorted(titles()) == expected
    with IterativeRAG.from_settings(llm="builtin", corpus="mine", embed_model=word_embedding()) as rag:
        assert rag.corpus.document("3354").title == "Berlin"
        (hit, *_) = rag.corpus.search(["Pont old"], 3)[0]
        assert rag.corpus.document(hit.document_id).link == "https://example.org/pont"
    assert IterativeRAG.index(given, corpus="mine", embed_model=word_embedding()).unchanged == 7


def test_files_and_documents_may_be_given_together(tmp_path: Path) -> None:
    two_article_corpus.write_articles(tmp_path / "articles")
    IterativeRAG.index(
        [tmp_path / "articles" / "Aldermere.md", ARTICLES[0]], corpus="mine", embed_model=word_embedding()
    )
    assert titles() == ["Aldermere", "Sunday bridge"]


def test_another_embedder_never_drops_what_was_given_before() -> None:
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    with pytest.raises(CorpusMismatch) as raised:
        IterativeRAG.index(ARTICLES[:1], corpus="mine", embed_model=word_embedding(32))
    assert "replace=True" in raised.value.hint
    assert titles() == ["Aldermere", "Sunday bridge"]
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding(32), replace=True)
    assert corpora().info("mine").documents == 2


def test_the_hints_of_a_mismatch_help_with_an_object_on_either_side(tmp_path: Path) -> None:
    two_article_corpus.write_articles(tmp_path / "articles")
    settings = load_settings({"corpus": "files"})
    index_paths([tmp_path / "articles"], settings=settings)
    with pytest.raises(CorpusMismatch) as raised:
        IterativeRAG.from_settings(settings, llm="builtin", embed_model=word_embedding())
    assert "IterativeRAG.index(documents, corpus='NAME', embed_model=...)" in raised.value.hint
    assert "embedder='builtin'" in raised.value.hint
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    with pytest.raises(CorpusMismatch) as raised:
        IterativeRAG.from_settings(llm="builtin", corpus="mine")
    assert "from Python, with that object as embed_model" in raised.value.hint
    assert "python:documents" not in raised.value.hint


def test_halves_of_characters_cost_no_more_than_themselves() -> None:
    half = "\ud835"  # as readers of PDF files give for a letter that they do not know
    text = f"The mayor of Aldermere is Edda {half} Holm."
    given = [
        Document("town", f"Alder{half}mere", text, f"scan{half}.pdf", metadata=(("kind", half),)),
        LlamaIndexDocument(text=f"The Sunday bridge {half} stands in Aldermere.", metadata={"title": "Sunday bridge"}),
    ]
    report = IterativeRAG.index(given, corpus="mine", embed_model=word_embedding())
    assert (report.added, report.skipped) == (2, ())
    with IterativeRAG.from_settings(llm=ArticleLLM(), corpus="mine", embed_model=word_embedding()) as rag:
        (_, document), *_ = rag.search("mayor", 1)
    assert (document.title, document.text) == ("Aldermere", text.replace(half, "?"))


def test_what_is_no_document_and_a_corpus_that_keeps_to_itself_are_refused() -> None:
    with pytest.raises(UsageError, match="A int is not a document"):
        IterativeRAG.index([7], corpus="mine")
    with pytest.raises(CorpusError, match="Nothing could be indexed"):
        IterativeRAG.index([LlamaIndexDocument(text="")], corpus="mine", embed_model=word_embedding())
    with pytest.raises(UsageError, match="nothing to index"):
        IterativeRAG.index([], corpus="mine")
    with IterativeRAG.from_settings(llm="builtin", corpus="starter") as rag, pytest.raises(UsageError, match="starter"):
        rag.index(ARTICLES)


def test_given_documents_are_not_looked_for_on_disk() -> None:
    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    ((root, reason),) = stale("mine", load_settings()).unread
    assert (root, reason.startswith("Documents that a Python program gave")) == ("python:documents", True)


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
    assert declined.startswith("Not in the corpus: Nothing near was found")


def test_a_wrong_setting_is_named_as_a_program_writes_it() -> None:
    with pytest.raises(SettingsError, match="max_hops = 0 in the call is not valid"):
        IterativeRAG.from_settings(max_hops=0)
