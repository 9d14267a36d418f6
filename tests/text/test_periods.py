"""Periods of office, as texts state them."""

from __future__ import annotations

import pytest

from iterative_rag.text.dates import Date
from iterative_rag.text.periods import Term, term


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
