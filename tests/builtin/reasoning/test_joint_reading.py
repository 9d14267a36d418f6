"""Questions that two articles answer together, asked over invented articles."""

from __future__ import annotations

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import DictCache, MemoryCorpus
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.settings import Settings
from iterative_rag.types import Answer, ConfidenceWord

FILM = (
    "The Last Ferry is a silent film of 1927 about a ferryman on the Orm. It was directed by Ada Quill. Its music was "
    "written by the composer Teodor Brask, who conducted it at the first showing in Tellby."
)
ARTICLES = {
    "The Last Ferry": f"# The Last Ferry\n\n{FILM}",
    "Teodor Brask": "Teodor Brask (1889–1951) was a composer and organist. He was born in Lornfield as the son of a "
    "miller. He wrote two symphonies and the Orm Hymn.",
    "Ada Quill": "Ada Quill (1895–1970) was a film director. She was born in Velm and died in Tellby.",
    "Velm": "Velm is a town on the Orm with a stone bridge. The Velm Summer School was held there from 1925.",
    "Lornfield": "Lornfield is a village with a mill and a small harbour.",
}
QUESTION = "The silent film about a ferryman on the Orm had its music written by a composer, born in which village?"
QUESTIONS = (
    QUESTION,
    "In which village was the writer of the music for the silent film about a ferryman born?",
    "At the first showing of the silent film about a ferryman, the music was conducted by an organist "
    "from which village?",
)


def asked(question: str, articles: dict[str, str]) -> Answer:
    embedder = HashingEmbedder()
    backend, corpus = BuiltinBackend(embedder), MemoryCorpus(articles)
    with IterativeRAG(Settings(), corpus=corpus, backend=backend, cache=DictCache(), embedder=embedder) as rag:
        return rag.ask(question)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("renamed", ["Teodor Brask", "Teodor Brask (composer)"])
def test_what_two_articles_say_together_cites_both_and_is_likely_at_most(question: str, renamed: str) -> None:
    articles = {renamed if title == "Teodor Brask" else title: text for title, text in ARTICLES.items()}
    answer = asked(question, articles)
    assert answer.short_answer == "Lornfield"
    assert {citation.title for citation in answer.citations} >= {"The Last Ferry", renamed}
    assert all(citation.quote.endswith(".") and not citation.quote.startswith("#") for citation in answer.citations)
    assert answer.confidence_word is ConfidenceWord.LIKELY


def test_articles_that_do_not_name_each_other_are_not_read_together() -> None:
    answer = asked(QUESTION, ARTICLES | {"The Last Ferry": FILM.replace("Teodor Brask", "Jon Marr")})
    assert answer.short_answer != "Lornfield"
