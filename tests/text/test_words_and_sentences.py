"""Folding, languages, names, sentences and terms: what the checks of answers stand on beside values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.dates import Date
from iterative_rag.text.folding import folded, folded_in_place
from iterative_rag.text.languages import codes, is_function_word, is_negation, language
from iterative_rag.text.names import same_name
from iterative_rag.text.periods import Term, term
from iterative_rag.text.sentences import sentences
from iterative_rag.text.units import convert, dimension, unit_of


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Traoré", "traore"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("ﬁn", "fin"),
        ("Ōta", "ota"),
    ],
)
def test_folding(text: str, plain: str) -> None:
    assert folded(text) == plain


@given(st.text(max_size=60))
def test_folding_in_place_keeps_every_place(text: str) -> None:
    assert len(folded_in_place(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Who designed the tower that was finished in 1911?", "en"),
        ("Wer hat den Turm entworfen, der 1911 vollendet wurde?", "de"),
        ("Qui a dessiné la tour qui fut achevée en 1911 ?", "fr"),
        ("¿Quién diseñó la torre que fue terminada en 1911?", "es"),
        ("Chi ha progettato la torre che fu completata nel 1911?", "it"),
        ("Quem desenhou a torre que foi terminada em 1911?", "pt"),
        ("Wie heeft de toren ontworpen die in 1911 klaar was?", "nl"),
        ("Velm Tower", ""),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language(text) == code


def test_function_words_and_negations() -> None:
    assert set(codes()) == {"en", "de", "fr", "es", "it", "pt", "nl"}
    assert is_function_word("the", "en")
    assert is_function_word("perhaps", "en")
    assert not is_function_word("tower", "en")
    assert is_negation("nicht", "de")
    assert not is_negation("nicht", "en")


def test_names() -> None:
    assert same_name("einstein", "einsteins")
    assert same_name("бренк", "бренка")
    assert not same_name("vienne", "vienna")
    assert not same_name("holm", "holmberg")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. J. K. Brenk drew it. She left.", 2),
        ("J. A. Brenk drew it. A. Holm built it.", 2),
        ("No. Orra is a town.", 2),
        ("1912. She was born in 1825.", 2),
        ("It opens at 3 a.m. [2]. Nobody comes.", 2),
        ("They came from the U.S. The tower was theirs.", 2),
        ("Holm et al. 1998 say so.", 1),
        ("an ex-U.S. Open champion", 1),
        ("Holm Bros. Film made it.", 1),
        ("She came on Sept. 5, 1874. He left.", 2),
        ("Im 19. Jahrhundert stand er. Am 3. März fiel er.", 2),
        ("See No. 5. It is tall.", 2),
        ("The U.S. won. It lost!", 2),
        ("Elle naquit en 44 av. J.-C. et mourut. Il vint.", 2),
        ("One\ntwo", 2),
        ("", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "code", "lasted"),
    [
        ("mayor from 1908 to June 1912", "en", Term(Date(1908), Date(1912, 6))),
        ("mayor (1908–1912)", "en", Term(Date(1908), Date(1912))),
        ("Bürgermeister von 1908 bis 1912", "de", Term(Date(1908), Date(1912))),
        ("maire de 1908 à 1912", "fr", Term(Date(1908), Date(1912))),
        ("mayor in 1912", "en", None),
        ("mayor from 1908 to 1912 and from 1920 to 1924", "en", None),
    ],
)
def test_the_term_of_an_office(text: str, code: str, lasted: Term | None) -> None:
    assert term(text, code) == lasted


def test_units() -> None:
    assert unit_of("square miles") == "mile**2"
    assert unit_of("Quadratmeilen", "de") == "mile**2"
    assert unit_of("seasons") == ""
    assert (dimension("foot"), dimension("USD"), dimension("")) == ("length", "money", "")
    assert convert(1083, "foot", "meter") == pytest.approx(330.1, abs=0.01)
    assert convert(5, "USD", "EUR") is None
    assert convert(5, "meter", "second") is None
    assert convert(20, "degree_Celsius", "degree_Fahrenheit") == pytest.approx(68)
