"""Questions stored with the passages: a further way to find them, by words that the passages lack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fakes.in_memory import DictCache, DocumentList
from iterative_rag.app.factory.index_questions import IndexingBudget, passage_questions
from iterative_rag.errors import ReplyUnreadable
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.corpus_subset import CorpusPart
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.filters import search_filtered
from iterative_rag.index.ingest import IngestReport, ingest
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.sources import open_source
from iterative_rag.types import Document, Within

QUESTIONS = {
    "niece of James Buchanan": ["Which hostess looked after bachelor Buchanan's White House?", "Who was his nephew?"],
    "fifteenth president": ["Which bachelor governed the USA?", "Did Buchanan have a spouse?"],
    "longest river": ["Which Bohemian waterway passes beneath Charles Bridge?"],
    "takes up the Vltava": ["Into which estuary does the waterway at Mělník run?"],
}
HOSTESS = "hostess"


def asks(request: ChatRequest) -> dict[str, list[str]]:
    return {"questions": next(asked for words, asked in QUESTIONS.items() if words in request.user)}


Index = Callable[..., IngestReport]


@pytest.fixture
def index(corpora: Corpora, articles: Path, embedder: HashingEmbedder) -> Index:
    """Index the articles, with so many questions a passage; the cache lasts from one run to the next."""
    cache = DictCache()

    def run(wanted: int = 2, llm: ScriptedLLM | None = None, max_calls: int | None = None) -> IngestReport:
        settings = Settings(index_questions=wanted)
        budget = IndexingBudget(max_calls)
        llm = llm or ScriptedLLM({"questions": asks})
        questions = passage_questions(settings, cache, budget, llm) if wanted else None
        report = ingest([open_source(articles)], corpora, "c", embedder, questions=questions)
        assert report.questions is None or budget.added_to(report.questions).calls == len(llm.requests)
        return report

    return run


def found(corpora: Corpora, embedder: HashingEmbedder, query: str, limit: int = 1) -> list[str]:
    with closing(corpora.open("c", embedder)) as corpus:
        return [hit.title for hit in corpus.search([query], limit)[0]]


def sparse_rank(corpora: Corpora, embedder: HashingEmbedder, query: str) -> int | None:
    with closing(corpora.open("c", embedder)) as corpus:
        return corpus.search([query], 1)[0][0].sparse_rank


def test_a_passage_is_found_by_words_that_only_its_question_has(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    index(0)
    assert sparse_rank(corpora, embedder, HOSTESS) is None
    report = index()
    assert (report.changed, report.questions and report.questions.written) == (4, 6)
    with closing(corpora.open("c", embedder)) as corpus:
        [[hit]] = corpus.search([HOSTESS], 1)
        text = corpus.document(hit.document_id).text
        passage = corpus.passages(hit.document_id)[0]
    assert (hit.title, hit.sparse_rank) == ("Harriet Lane", 1)
    assert (hit.start, hit.end) == (passage.start, passage.end)
    assert "hostess" not in text


def test_a_passage_is_one_hit_however_many_of_its_questions_match(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    index()
    with closing(corpora.open("c", embedder)) as corpus:
        [hits] = corpus.search(["bachelor Buchanan spouse nephew"], 10)
    assert len({(hit.document_id, hit.start) for hit in hits}) == len(hits) == 4
    assert sorted(hit.dense_rank for hit in hits if hit.dense_rank) == [1, 2, 3, 4]


def test_unchanged_documents_cost_nothing_and_keep_their_questions(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    index()
    for wanted in (2, 0):
        with ScriptedLLM({}) as silent:
            report = index(wanted, silent)
        assert (report.unchanged, report.passages) == (4, 0)
        assert found(corpora, embedder, HOSTESS) == ["Harriet Lane"]
    assert corpora.info("c").questions == 6
    assert corpora.info("c").passages == 4


def test_a_changed_document_gets_other_questions_and_a_removed_one_loses_its_own(
    index: Index, corpora: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    index()
    changed = "# Harriet Lane\n\nHarriet Lane was the niece of James Buchanan and collected paintings."
    (articles / "Harriet_Lane.md").write_text(changed, encoding="utf-8")
    (articles / "Vltava.txt").unlink()
    with ScriptedLLM({"questions": [{"questions": ["Whose gallery opened in Washington?"]}]}) as llm:
        report = index(2, llm)
    assert (report.changed, report.removed, report.unchanged) == (1, 1, 2)
    assert found(corpora, embedder, "gallery") == ["Harriet Lane"]
    assert sparse_rank(corpora, embedder, HOSTESS) is None
    assert sparse_rank(corpora, embedder, "Bohemian") is None
    assert corpora.info("c").questions == 4


def test_the_limit_of_calls_postpones_documents_and_the_next_run_goes_on(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    first = index(max_calls=3)
    assert first.questions is not None
    assert (first.added, first.questions.postponed) == (4, 1)
    assert corpora.info("c").state == "ready"
    second = index()
    assert second.questions is not None
    assert (second.changed, second.unchanged, second.questions.postponed) == (1, 3, 0)
    assert corpora.info("c").questions == 6


def test_an_interrupted_run_goes_on_without_asking_again(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    script = [asks, asks, KeyboardInterrupt()]

    def interrupted(request: ChatRequest) -> object:
        step = script.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step(request)  # type: ignore[operator]

    with pytest.raises(KeyboardInterrupt):
        index(2, ScriptedLLM({"questions": interrupted}))  # type: ignore[dict-item]
    with ScriptedLLM({"questions": [asks, asks]}) as rest:
        index(2, rest)
    assert corpora.info("c").questions == 6


def test_readers_of_an_older_generation_keep_what_they_see(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    index(0)
    with closing(corpora.open("c", embedder)) as corpus, closing(corpus.pinned()) as pinned:
        index()
        assert pinned.search([HOSTESS], 1)[0][0].sparse_rank is None
        assert corpus.search([HOSTESS], 1)[0][0].sparse_rank == 1


def test_parts_and_filters_of_a_corpus_know_its_questions(
    index: Index, corpora: Corpora, embedder: HashingEmbedder
) -> None:
    index()
    with closing(corpora.open("c", embedder)) as corpus:
        [lane] = corpus.find("Harriet Lane")
        [elbe] = corpus.find("River Elbe")
        assert CorpusPart(corpus, [lane.id]).search([HOSTESS], 3)[0][0].sparse_rank == 1
        assert CorpusPart(corpus, [elbe.id]).search([HOSTESS], 3)[0][0].sparse_rank is None
        [hit] = search_filtered(corpus, HOSTESS, 3, Within(title="Harriet"))
        assert hit.sparse_rank == 1


def test_a_section_is_searched_with_the_questions_of_its_own_passages(
    corpora: Corpora, embedder: HashingEmbedder
) -> None:
    history, today = "The tower burnt down in 1944. " * 15, "The tower is a museum. " * 20
    text = f"# Velm\n\n{today}\n\n## History\n\n{history}\n\n## Today\n\n{today}\n"
    velm = Document("v", "Velm", text, "memory")

    def asked(request: ChatRequest) -> dict[str, list[str]]:
        return {"questions": ["Which blaze hit Velm?" if "1944" in request.user else "Which art is in Velm?"]}

    llm = ScriptedLLM({"questions": asked})
    questions = passage_questions(Settings(index_questions=1), DictCache(), IndexingBudget(), llm)
    ingest([DocumentList([velm])], corpora, "c", embedder, questions=questions)
    with closing(corpora.open("c", embedder)) as corpus:
        assert search_filtered(corpus, "blaze", 3, Within(section="History"))[0].sparse_rank == 1
        assert search_filtered(corpus, "blaze", 3, Within(section="Today"))[0].sparse_rank is None


def test_one_unreadable_reply_costs_its_passage_alone_and_many_end_the_run(
    index: Index, corpora: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    def once(request: ChatRequest) -> object:
        return "?" if "longest river" in request.user else asks(request)

    report = index(2, ScriptedLLM({"questions": once}))  # type: ignore[dict-item]
    assert report.questions is not None
    assert (report.questions.unreadable, report.questions.written) == (1, 5)
    (articles / "long.txt").write_text(" ".join(f"Sentence number {n} says little." for n in range(150)))
    with pytest.raises(ReplyUnreadable):
        index(2, ScriptedLLM({"questions": lambda request: "?"}))
    assert corpora.info("c").questions == 5
