"""Search in other languages: words in another form are found, and what is English is searched as ever."""

from __future__ import annotations

import unicodedata
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from qdrant_edge import Bm25, Bm25Config

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.app.factory import starter_corpus_path
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.index.sparse import bm25_document, bm25_query
from iterative_rag.retrieval.analysers import MEAN_TERMS
from iterative_rag.sources import open_source
from iterative_rag.text.spoken_language import language_of_document, language_of_text

EMBEDDER = HashingEmbedder(16)
LANGUAGES = Path(__file__).resolve().parents[2] / "evaluation" / "languages"
TEXTS = {
    "Brücken": "Die Brücken von Arnfeld wurden im Jahr 1871 von der Baumeisterin Lorn gegründet und sind aus Stein.",
    "Köprüler": "Kırıklı kasabasındaki köprüleri mimar Aydın Ilgaz yaptı. Köprülerin en eskisi taştan bir köprüdür.",
    "Pont": "La tour a été fondée par les sœurs Malvine et se trouve dans la vieille ville, où elle est très aimée.",
    "Puente": "Las canciones del coro fueron escritas por la maestra Inés Tol y se cantan en las fiestas del pueblo.",
    "桥": "石桥镇的图书馆由建筑师林若水设计,于一八九二年建成,是镇上最古老的建筑。",
    "橋": "川上町の図書館は建築家の森田によって設計され、町で最も古い建物である。",
    "สะพาน": "หอสมุดของเมืองออกแบบโดยสถาปนิกและเป็นอาคารที่เก่าแก่ที่สุดในเมือง",
    "다리": "강변읍의 도서관은 건축가 한서윤이 설계하였으며 읍내에서 가장 오래된 건물이다.",
    "Мост": "Мосты посёлка построил инженер Лазарь Вернов, и самый старый из них сделан из камня.",
    "جسر": "بنى المهندس سالم النجار الجسور القديمة في البلدة، وأقدمها مبني من الحجر.",
    "גשר": "הגשרים הישנים בעיירה נבנו בידי המהנדס והעתיק שבהם עשוי אבן.",
    "Bridge": "The bridges of Velm were founded by the engineer Oda Brenk, and the oldest of them is made of stone.",
}

NAMED = ("Brücken", "Köprüler", "Bridge")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    """All texts in one corpus, some of which name somebody."""
    folder = tmp_path_factory.mktemp("texts")
    for title, text in TEXTS.items():
        named = " Istvan Quellbrunn." if title in NAMED else ""
        (folder / f"{title}.txt").write_text(text + named, encoding="utf-8")
    corpora = Corpora(folder / "corpora")
    ingest([open_source(folder)], corpora, "c", EMBEDDER)
    return corpora


def found_by_words(corpora: Corpora, query: str) -> list[str]:
    """The titles that BM25 finds, best first."""
    with closing(corpora.open("c", EMBEDDER)) as corpus:
        (hits,) = corpus.search([query], 20)
    ranked = [hit for hit in hits if hit.sparse_rank is not None]
    return [unicodedata.normalize("NFC", hit.title) for hit in sorted(ranked, key=lambda hit: hit.sparse_rank or 0)]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Wer baute die steinerne Brücke?", "Brücken"),
        ("Wann war die Gründung durch Lorn?", "Brücken"),
        ("Brucken", "Brücken"),  # typed without its accents
        ("Bru\u0308cke", "Brücken"),  # decomposed, as some file systems and editors write it
        ("köprüyü kim yaptı", "Köprüler"),
        ("KIRIKLI", "Köprüler"),  # the dotless i has another capital
        ("ILGAZ", "Köprüler"),
        ("Qui a fondé la tour?", "Pont"),
        ("soeurs", "Pont"),
        ("¿Quién escribió la canción?", "Puente"),
        ("图书馆是谁设计的？", "桥"),
        ("図書館の設計者は誰ですか", "橋"),
        ("ใครออกแบบหอสมุด", "สะพาน"),
        ("도서관을 누가 설계했나", "다리"),
        ("кто построил мост", "Мост"),
        ("поселка", "Мост"),
        ("من بنى الجسر", "جسر"),
        ("גְּשָׁרִים הגשרים", "גשר"),
        ("Who founded the bridge?", "Bridge"),
    ],
)  # fmt: skip
def test_a_word_in_another_form_finds_the_text_in_its_language(shelf: Corpora, query: str, title: str) -> None:
    assert found_by_words(shelf, query)[:1] == [title]


def test_stop_words_of_the_question_find_nothing_in_texts_of_another_language(shelf: Corpora) -> None:
    assert found_by_words(shelf, "Who was the one that was in it?") == []
    assert found_by_words(shelf, "Welche ist die, für wen war es und warum wurde es nicht?") == []


def test_a_name_is_found_in_texts_of_every_language(shelf: Corpora) -> None:
    for query in ("Who is Quellbrunn?", "Wer ist Quellbrunn?", "Quellbrunn kimdir ve ne yaptı?"):
        assert set(NAMED) <= set(found_by_words(shelf, query)), query


def test_questions_in_five_languages_find_their_articles_by_their_words(corpora: Corpora) -> None:
    """The invented texts and questions of evaluation/languages."""
    questions = load(LANGUAGES / "questions.jsonl").questions
    assert Counter(question.types[0] for question in questions) == dict.fromkeys(("de", "fr", "es", "tr", "zh"), 12)
    ingest([open_source(LANGUAGES / "articles.jsonl")], corpora, "c", EMBEDDER)
    assert corpora.info("c").languages == dict.fromkeys(("de", "fr", "es", "tr", "zh"), 10)
    with closing(corpora.open("c", EMBEDDER)) as corpus:
        found = corpus.search([question.text for question in questions], 60)
    missed = []
    for question, hits in zip(questions, found, strict=True):
        ranked = sorted((hit for hit in hits if hit.sparse_rank), key=lambda hit: hit.sparse_rank or 0)
        first = list(dict.fromkeys(hit.title for hit in ranked))[:5]
        missed += [(question.id, title) for title in question.gold_titles if title not in first]
    assert len(missed) <= 2, missed


def test_the_language_of_every_question_is_told() -> None:
    """The detector takes one of them for Wu, which then counted as a language that is not known."""
    for question in load(LANGUAGES / "questions.jsonl").questions:
        assert language_of_text(question.text) == question.types[0], question.id


def test_a_corpus_knows_the_languages_of_its_documents(shelf: Corpora) -> None:
    told = ("ar", "de", "es", "fr", "he", "ja", "ko", "ru", "th", "tr", "zh")
    assert shelf.info("c").languages == dict.fromkeys(told, 1)


def test_english_text_has_the_terms_that_it_always_had() -> None:
    english = Bm25(Bm25Config(avg_len=MEAN_TERMS, language="english", ascii_folding=True))
    files = sorted(starter_corpus_path().rglob("*.md"))
    assert len(files) > 50
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert language_of_document(text) == "", file.name
        for part in (text[:500], text[2000:2500]):
            expected = english.embed_document(part)
            assert bm25_document(part) == (expected.indices, expected.values)
    for question in ("Who was the wife of the 15th president?", "Beyoncé", "Gabriel García Márquez's home"):
        asked = english.embed_query(question)
        assert bm25_query(question) == (asked.indices, asked.values)
