"""Which documents are listed for a need, plain and sharpened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes import two_article_corpus
from fakes.scripted_llm import ScriptedLLM
from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory import index_paths
from iterative_rag.retrieval.need_words import without_scaffolding
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Document, Hit, Need, ShortlistStep

FUSED = 60


@dataclass
class Ranked:
    """A corpus that finds the same passages for every query: (title, text, dense rank, BM25 rank), 0 for none."""

    found: Sequence[tuple[str, str, int, int]]
    name: str = "ranked"
    fingerprint: str = "1"
    queries: list[str] = field(default_factory=list)

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        self.queries += queries
        hits = []
        for title, text, *ranks in self.found:
            score = sum(1 / (FUSED + rank) for rank in ranks if rank)
            hits.append(Hit(title, title, 0, len(text), score, ranks[0] or None, ranks[1] or None))
        return [sorted(hits, key=lambda hit: -hit.score)[:limit] for _ in queries]

    def document(self, document_id: str) -> Document:
        (text,) = (text for title, text, *_ in self.found if title == document_id)
        return Document(document_id, document_id, text, f"{document_id}.md")

    def close(self) -> None:
        """Nothing is open."""


def listed(corpus: Ranked, question: str, *, sharpen: bool = True, most: int = 8, keep_tail: bool = False) -> list[str]:
    (entries,) = shortlist(corpus, [Need(question)], documents=most, passages=64, sharpen=sharpen, keep_tail=keep_tail)
    assert [entry.score for entry in entries if not entry.title.startswith("List")] == sorted(
        (entry.score for entry in entries if not entry.title.startswith("List")), reverse=True
    )
    return [entry.title for entry in entries]


NOISE = [(f"Wedding {n}", f"The wedding of couple {n} and its spouse number n{n}.", n, n + 1) for n in range(1, 8)]


def test_a_name_that_only_bm25_finds_is_among_the_first_two() -> None:
    corpus = Ranked([*NOISE, ("The Gate (film)", "The Gate was directed by Odo Walsh with his wife Ina.", 0, 1)])
    question = "Who was the spouse of Odo Walsh?"
    assert listed(corpus, question, sharpen=False).index("The Gate (film)") >= 3
    assert "The Gate (film)" in listed(corpus, question)[:2]


def test_the_document_of_that_title_comes_before_its_namesakes() -> None:
    bands = [
        ("Virus (Iron Gate song)", "Virus is a song by Iron Gate.", 1, 2),
        ("Iron Gate (album)", "The album of Iron Gate that is called like the band.", 2, 3),
        ("Iron Gate", "Iron Gate are a band founded in Karsa.", 3, 1),
    ]
    assert listed(Ranked(bands), "Where was Iron Gate founded?", sharpen=False)[0] != "Iron Gate"
    assert listed(Ranked(bands), "Where was Iron Gate founded?")[0] == "Iron Gate"


def test_lists_do_not_crowd_out_prose() -> None:
    lists = [(f"List of masts {n}", f"Mast n{n} with its height and its year.", n, n) for n in range(1, 6)]
    corpus = Ranked([*lists, ("Oda Velm", "She drew the tallest mast of all.", 7, 7)])
    assert "Oda Velm" not in listed(corpus, "who drew the tallest mast", most=4, sharpen=False)
    assert listed(corpus, "who drew the tallest mast", most=4) == [
        "List of masts 1",
        "List of masts 2",
        "Oda Velm",
        "List of masts 3",
    ]


def test_what_scores_far_below_the_right_document_is_left_out_of_the_first_search_only() -> None:
    corpus = Ranked(
        [("Odo Walsh", "Odo Walsh married Ina Brenk.", 1, 1), *[(t, x, d + 9, s + 9) for t, x, d, s in NOISE]]
    )
    question = "Whom did Odo Walsh marry?"
    assert listed(corpus, question) == ["Odo Walsh", "Wedding 1", "Wedding 2"]
    assert len(listed(corpus, question, keep_tail=True)) == len(listed(corpus, question, sharpen=False)) == 8
    # A question about several documents, and one whose name the best document does not hold, lose nothing.
    several = (
        "In which year did the painter whom Odo Walsh married leave the town where the oldest mast of the coast is?"
    )
    assert len(listed(corpus, several)) == len(listed(corpus, "Whom did Uwe Karsa marry?")) == 8


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("As of August 3, 2024, how tall is the Orl mast?", "how tall is the Orl mast?"),
        ("How tall is the Orl mast, as of 2024?", "How tall is the Orl mast?"),
        ("Tell me about the builder of the Orl mast", "the builder of the Orl mast"),
        ("According to the article, which of the following is taller: Orl or Arl?", "is taller: Orl or Arl?"),
        ("Could you tell me who drew it?", "who drew it?"),
        ("Please tell me when", "Please tell me when"),
        ("According to Oda Velm, which mast is tallest?", "According to Oda Velm, which mast is tallest?"),
    ],
)
def test_the_query_is_cut_to_what_is_asked(question: str, query: str) -> None:
    corpus = Ranked(NOISE)
    listed(corpus, question)
    assert corpus.queries == [query]
    assert without_scaffolding(query) == query


def test_lists_are_sharpened_for_an_llm_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    two_article_corpus.write_articles(tmp_path / "articles")
    settings = Settings(corpus="towns", cache=False, grading="off", correction="off")
    index_paths([tmp_path / "articles"], settings=settings, corpus="towns")
    question = "Who is the mayor of Aldermere?"
    scores = []
    with ScriptedLLM({"extract": [{"facts": []}]}) as llm:
        for backend in (llm, "builtin"):
            rag = IterativeRAG.from_settings(settings, llm=backend)
            (step,) = [step for step in rag.steps(question, strategy="crag") if isinstance(step, ShortlistStep)]
            scores.append({entry.title: entry.score for entry in step.documents})
            rag.close()
    assert scores[0]["Aldermere"] > scores[1]["Aldermere"]


def test_the_article_where_a_model_expects_the_fact_comes_first_if_there_is_one() -> None:
    corpus = Ranked([*NOISE, ("The Gate (film)", "Odo Walsh and his wife Ina.", 9, 9)])
    first = []
    for see in ("the gate (film)", "Gate", "The Gate (novel)", "The Wall"):
        (entries,) = shortlist(corpus, [Need("Who was his spouse?", see)], documents=3, passages=64, sharpen=True)
        assert len(entries) == 3
        first.append(entries[0].title)
    assert first == ["The Gate (film)", "The Gate (film)", "Wedding 1", "Wedding 1"]
