"""The baselines, through the package's door: one retrieval and one answer, or no retrieval at all."""

from __future__ import annotations

import pytest

from fakes import two_article_corpus
from fakes.scripted_llm import ScriptedLLM
from iterative_rag import IterativeRAG, Settings
from iterative_rag.errors import UsageError
from iterative_rag.index.corpora import IndexedCorpus
from iterative_rag.types import AnsweringStep, FinalStep, ReadingStep, ShortlistStep, Status

ANSWER = {"status": "answered", "answer": "It is Edda Holm [1].", "short_answer": "Edda Holm", "confidence": 0.8}


def test_naive_is_one_call_that_sees_the_passages_themselves(towns: Settings) -> None:
    with ScriptedLLM({"answer": [ANSWER]}) as llm:
        rag = IterativeRAG.from_settings(towns, llm=llm)
        steps = list(rag.steps(two_article_corpus.QUESTION, strategy="naive"))
    assert [type(step) for step in steps] == [ShortlistStep, ReadingStep, AnsweringStep, FinalStep]
    (request,) = llm.requests
    assert all(quote in request.user for quote in two_article_corpus.FACTS)
    last = steps[-1]
    assert isinstance(last, FinalStep)
    answer = last.answer
    assert isinstance(rag.corpus, IndexedCorpus)
    assert (answer.status, answer.short_answer, answer.usage.llm_calls) == (Status.ANSWERED, "Edda Holm", 1)
    documents = {document.source: document for title in rag.corpus.titles() for document in rag.corpus.find(title)}
    for citation in answer.citations:
        assert documents[citation.source].text[citation.start : citation.end] == citation.quote
    assert "Edda Holm" in answer.citations[-1].quote  # the passage that says it is cited, whatever the model cites


def test_naive_with_the_built_in_backend_reads_once_and_cannot_chain(towns: Settings) -> None:
    rag = IterativeRAG.from_settings(towns, llm="builtin")
    direct = rag.ask("Who is the mayor of Aldermere?", strategy="naive")
    chain = rag.ask(two_article_corpus.QUESTION, strategy="naive")
    looped = rag.ask(two_article_corpus.QUESTION)
    rag.close()
    assert direct.short_answer == "Edda Holm"
    assert len(chain.hops) == 1
    assert (len(looped.hops), looped.short_answer) == (2, "Edda Holm")


def test_closed_book_searches_nothing_and_cites_nothing(towns: Settings) -> None:
    known = {"working": "", "status": "answered", "short_answer": "Edda Holm", "confidence": 0.4}
    with ScriptedLLM({"recall": [known]}) as llm:
        rag = IterativeRAG.from_settings(towns, llm=llm)
        answer = rag.ask(two_article_corpus.QUESTION, strategy="closed-book")
    assert (answer.short_answer, answer.citations, answer.hops) == ("Edda Holm", (), ())
    assert not any(quote in llm.requests[0].user for quote in two_article_corpus.FACTS)


@pytest.mark.parametrize("said", ["unknown", "Unknown"])
def test_a_model_that_does_not_know_abstains(towns: Settings, said: str) -> None:
    with ScriptedLLM({"recall": [f'{{"working": "", "status": "{said}", "short_answer": ""}}']}) as llm:
        answer = IterativeRAG.from_settings(towns, llm=llm).ask("Who?", strategy="closed-book")
    assert answer.status is Status.ABSTAINED


def test_closed_book_needs_an_llm(towns: Settings) -> None:
    with pytest.raises(UsageError, match="knows nothing by heart"):
        IterativeRAG.from_settings(towns, llm="builtin").ask("Who?", strategy="closed-book")
