"""When two texts give the same value, when one says less than the other, and when both cannot be true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.text.comparing import excludes, stands_in
from iterative_rag.text.mentions import mentions
from tests.tables import table
from tests.text.table import rows


def stands(claimed: str, said: str, code: str = "en") -> bool:
    (one,), (other,) = mentions(claimed, code), mentions(said, code)
    return stands_in(one, other)


@pytest.mark.parametrize(("claimed", "said"), table(__file__, "stands"))
def test_a_value_stands_in_one_that_says_as_much(claimed: str, said: str) -> None:
    assert stands(claimed, said)


@pytest.mark.parametrize(("claimed", "said"), table(__file__, "stands_not"))
def test_a_value_does_not_stand_in_another(claimed: str, said: str) -> None:
    assert not stands(claimed, said)


@pytest.mark.parametrize(("one", "other", "exclude"), table(__file__, "excludes"))
def test_what_excludes_what(one: str, other: str, exclude: bool) -> None:
    (first,), (second,) = mentions(one, "en"), mentions(other, "en")
    assert excludes(first, second) is exclude
    assert excludes(second, first) is exclude


def test_every_value_of_the_table_agrees_with_itself() -> None:
    for row in rows():
        for mention in mentions(row.text, row.code):
            assert stands_in(mention, mention), row
            assert not excludes(mention, mention), row


@given(st.text(max_size=80), st.sampled_from(["en", "de", "fr", "es", "it", "pt", "nl", "ru", ""]))
def test_no_text_breaks_the_reader(text: str, code: str) -> None:
    for lenient in (True, False):
        for mention in mentions(text, code, lenient=lenient):
            assert 0 <= mention.start < mention.end <= len(text)
            assert mention.start < mention.end <= mention.after
            assert stands_in(mention, mention)
