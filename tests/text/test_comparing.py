"""When two texts give the same value, when one says less than the other, and when both cannot be true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.comparing import excludes, stands_in
from iterative_rag.text.mentions import mentions
from tests.text.table import Row, rows


def stands(claimed: str, said: str, code: str = "en") -> bool:
    (one,), (other,) = mentions(claimed, code), mentions(said, code)
    return stands_in(one, other)


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("105 floors", "one hundred and five floors"),
        ("one hundred and five", "105"),
        ("1874", "3 March 1874"),
        ("March 1874", "3 March 1874"),
        ("the 1870s", "3 March 1874"),
        ("19th century", "1874"),
        ("19th century", "the 1870s"),
        ("42nd", "forty-second"),
        ("98 minutes", "a 98-minute film"),
        ("2.5 hours", "2½ hours"),
        ("2388 hours and 40 minutes", "2388.67 hours"),
        ("$5m", "5 million dollars"),
        ("5 sq mi", "5 square miles"),
        ("330 m", "1,083 ft"),
        ("1.4 million", "1,412,300"),
        ("about 12,000", "12,400"),
        ("two thirds", "2/3"),
        ("44 BC", "15 March 44 BC"),
        ("5 pounds", "£5"),
        ("5 pounds", "5 lb"),
    ],
)
def test_a_value_stands_in_one_that_says_as_much(claimed: str, said: str) -> None:
    assert stands(claimed, said)


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ("$5m", "5 meters"),
        ("5 meters", "$5m"),
        ("5 sq mi", "5 mi"),
        ("105", "5"),
        ("3 March 1874", "1874"),
        ("1874", "the 1870s"),
        ("44 BC", "44"),
        ("44 BC", "AD 44"),
        ("seven years", "seven seasons"),
        ("12th century", "12th"),
        ("1,412,300", "1.4 million"),
        ("5 dollars", "5 euros"),
        ("5 miles per hour", "5 miles"),
        ("1880s", "1874"),
    ],
)
def test_a_value_does_not_stand_in_another(claimed: str, said: str) -> None:
    assert not stands(claimed, said)


@pytest.mark.parametrize(
    ("one", "other", "exclude"),
    [
        ("105", "one hundred and five", False),
        ("12,000", "12,412", False),
        ("1874", "3 March 1874", False),
        ("3 March", "March 1874", False),
        ("330 m", "1,083 ft", False),
        ("5 kg", "5 m", False),
        ("1914–1918", "1914", False),
        ("the 1870s", "1874", False),
        ("1889", "1891", True),
        ("3 March 1889", "4 March 1889", True),
        ("330 m", "1,200 ft", True),
        ("44 BC", "AD 44", True),
        ("the 1870s", "1884", True),
    ],
)
def test_what_excludes_what(one: str, other: str, exclude: bool) -> None:
    (first,), (second,) = mentions(one, "en"), mentions(other, "en")
    assert excludes(first, second) is exclude
    assert excludes(second, first) is exclude


@pytest.mark.parametrize("row", [row for row in rows() if row.meaning], ids=lambda row: f"{row.code}: {row.text}")
def test_every_value_of_the_table_agrees_with_itself(row: Row) -> None:
    for mention in mentions(row.text, row.code):
        assert stands_in(mention, mention)
        assert not excludes(mention, mention)


@given(st.text(max_size=80), st.sampled_from(["en", "de", "fr", "es", "it", "pt", "nl", "ru", ""]))
def test_no_text_breaks_the_reader(text: str, code: str) -> None:
    for lenient in (True, False):
        for mention in mentions(text, code, lenient=lenient):
            assert 0 <= mention.start < mention.end <= len(text)
            assert mention.start < mention.end <= mention.after
            assert stands_in(mention, mention)
