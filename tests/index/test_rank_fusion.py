"""What ranks passages: a reader's ranking beside the two halves, and BM25's vectors for any text of any script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from iterative_rag.index import rank_fusion
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.filters import CorpusPart
from iterative_rag.index.sparse import bm25_document, bm25_query
from iterative_rag.protocols import Reranker
from iterative_rag.types import Document

DOCUMENTS = [Document(f"d{n:02}", f"Place {n}", f"A bridge over river number n{n}.", "memory") for n in range(60)]
QUERY = "bridge over the river"


class Fancy:
    """Likes passages by their number, the highest most; remembers what it was shown."""

    name = "fancy"

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        self.seen.append((query, len(passages)))
        return [int(title.removeprefix("Place ")) / 100 for title, _ in passages]


@pytest.fixture
def corpora(corpora: Corpora, embedder: HashingEmbedder) -> Corpora:
    index_documents(corpora, "bridges", DOCUMENTS, embedder)
    return corpora


def test_the_reader_is_a_third_ranking_over_the_best_passages(corpora: Corpora, embedder: HashingEmbedder) -> None:
    fancy: Reranker = Fancy()
    with (
        closing(corpora.open("bridges", embedder)) as plain,
        closing(corpora.open("bridges", embedder, reranker=fancy)) as read,
    ):
        [before] = plain.search([QUERY], 60)
        [after] = read.search([QUERY], 60)
        first = read.search([QUERY], 3)[0]
    assert {hit.document_id for hit in after} == {hit.document_id for hit in before}
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)
    old = {hit.document_id: hit for hit in before}
    judged = [hit for hit in after if hit.reader_rank]
    assert {hit.document_id for hit in judged} == {hit.document_id for hit in before[: rank_fusion.RERANK_DEPTH]}
    assert [hit.document_id for hit in sorted(judged, key=lambda hit: hit.reader_rank or 0)] == sorted(
        (hit.document_id for hit in judged), reverse=True
    )
    for hit in after:
        was = old[hit.document_id]
        added = rank_fusion.RERANK_WEIGHT / (60 + hit.reader_rank) if hit.reader_rank else 0.0
        assert hit.score == pytest.approx(was.score + added)
        assert (hit.dense_rank, hit.sparse_rank) == (was.dense_rank, was.sparse_rank)
    assert all(hit.reader_rank is None for hit in before)
    # How many are asked for does not change which come first.
    assert first == after[:3]


def test_of_a_part_its_own_passages_are_read(corpora: Corpora, embedder: HashingEmbedder) -> None:
    fancy = Fancy()
    with closing(corpora.open("bridges", embedder, reranker=fancy)) as whole:
        [hits] = CorpusPart(whole, ["d03", "d07"]).search([QUERY], 10)
        assert whole.search([" ", QUERY, QUERY], 0) == [[], [], []]
    assert [hit.document_id for hit in hits] == ["d07", "d03"]
    assert fancy.seen == [(QUERY, 2)]


# --- vectors of words -----------------------------------------------------------------------------


SCRIPTS = {
    "Latin": "abcdeéßøŁı", "Greek": "αβγδω", "Cyrillic": "абвгд", "Arabic": "ابتثج", "Hebrew": "אבגד",
    "Thai": "กขคงามี่",
    "Han": "中华人民共和国首都", "kana": "ひらがなカタカナー", "Hangul": "한국의수도", "Devanagari": "कखगाी",
    "Lao": "ກຂຄ",
    "emoji": "😀🎉👩‍👩‍👧🇩🇪", "digits": "0123४५", "marks": " \n\t.,;()-\u200b\u200f\x00", "rare": "𠀀𠀁𝔘",
}  # fmt: skip
WORDS = st.one_of(*(st.text(alphabet=letters, min_size=1, max_size=12) for letters in SCRIPTS.values()))
TEXTS = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=60))


@given(TEXTS)
def test_every_text_makes_a_valid_vector(text: str) -> None:
    for indices, values in (bm25_document(text), bm25_query(text)):
        assert len(indices) == len(values) == len(set(indices))
        assert all(0 <= index < 2**32 for index in indices)
        assert all(math.isfinite(value) and value > 0 for value in values)
    # A text that is asked for as it stands shares every term with itself.
    assert set(bm25_query(text)[0]) == set(bm25_document(text)[0])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("北京是中华人民共和国的首都", "首都"),
        ("東京は日本の首都です。", "日本"),
        ("กรุงเทพเป็นเมืองหลวงของประเทศไทย", "เมืองหลวง"),
        ("한국의 수도는 서울", "서울"),
        ("القاهرة عاصمة مصر", "مصر"),
        ("Αθήνα είναι η πρωτεύουσα", "Αθήνα"),
        ("Москва столица России", "столица"),
        ("Die Straße nach Köln", "Koln"),
        ("The town of 京都 (Kyoto) in Japan", "京都"),
    ],
)
def test_a_word_inside_a_text_is_found(text: str, word: str) -> None:
    assert set(bm25_query(word)[0]) & set(bm25_document(text)[0])
    assert not set(bm25_query("zeppelin")[0]) & set(bm25_document(text)[0])
