"""BM25's vectors: any text of any script makes a valid one, and a text is found by its own words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.index.sparse import bm25_document, bm25_query

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


def test_half_a_character_stops_nothing() -> None:
    assert bm25_document("\ud800 river")[0]
    assert set(bm25_query("river")[0]) <= set(bm25_document("river\udfff")[0])


def test_plain_text_is_untouched() -> None:
    assert bm25_document("The bridges of Paris") == bm25_document("the bridge of paris")
    assert len(bm25_query("the of and")[0]) == 0
