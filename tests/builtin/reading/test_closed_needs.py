"""What a page says to a closed need: yes, no or nothing."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.closed_needs import describe, verify
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.types import Window

LEE = "Ann Lee (3 May 1941 – 9 June 1999) was a Norwegian novelist and poet. She lived in Orm. She won the Harp Prize."
DAWN = "Dawn is a 1976 British drama film directed by Bo Orm. It was released by Tell Pictures."


def _page(title: str, text: str) -> UnitPage:
    return page(Window(title, title, "", (), text))


@pytest.mark.parametrize(
    ("need", "value", "quoted"),
    [
        ("Is Ann Lee a writer?", "yes", "novelist and poet"),
        ("Is Ann Lee Norwegian?", "yes", "Norwegian"),
        ("Is Ann Lee from Europe?", "yes", "Norwegian"),
        ("Is Ann Lee a Norwegian novelist?", "yes", "Norwegian novelist"),
        ("Did Ann Lee win the Harp Prize?", "yes", "won the Harp Prize"),
        ("Was Ann Lee alive in the 1960s?", "yes", "1941"),
        ("Was Ann Lee alive in 2005?", "no", "1999"),
        ("Is Ann Lee an American novelist?", "no", "Norwegian"),
        ("Is Ann Lee a film director?", "no", "novelist"),
    ],
)
def test_a_page_decides_what_is_said_of_its_subject(need: str, value: str, quoted: str) -> None:
    verdict = verify(read_query(need), _page("Ann Lee", LEE))
    assert verdict is not None
    assert verdict.value == value
    assert quoted in verdict.quote
    assert verdict.quote in LEE


def test_no_is_trusted_less_than_yes_and_a_contradiction_more_than_silence() -> None:
    trusts = []
    for need in ("Is Ann Lee a novelist?", "Is Ann Lee American?", "Did Ann Lee found a Harp school?"):
        verdict = verify(read_query(need), _page("Ann Lee", LEE))
        assert verdict is not None
        trusts.append(verdict.score)
    assert trusts == sorted(trusts, reverse=True)
    assert trusts[0] > trusts[1] > trusts[2]


@pytest.mark.parametrize("title", ["Bo Orm", "Ann Leeson", "Ann Lee discography"])
def test_another_page_decides_nothing(title: str) -> None:
    text = f"{title} was a Norwegian novelist who knew Ann Lee."
    assert verify(read_query("Is Ann Lee a novelist?"), _page(title, text)) is None


def test_a_class_noun_tells_namesakes_apart() -> None:
    need = read_query("Is the film Dawn British?")
    film = verify(need, _page("Dawn (film)", DAWN))
    song = verify(need, _page("Dawn (song)", "Dawn is a British song."))
    assert film is not None
    assert song is not None
    assert film.score > song.score


@pytest.mark.parametrize(
    ("need", "value"),
    [
        ("What is Ann Lee?", "Norwegian novelist and poet"),
        ("What is the occupation of Ann Lee?", "novelist and poet"),
        ("What is the nationality of Ann Lee?", "Norwegian"),
    ],
)
def test_a_lead_describes_its_subject(need: str, value: str) -> None:
    told = describe(read_query(need), _page("Ann Lee", LEE))
    assert told is not None
    assert (told.value, told.quote in LEE) == (value, True)


def test_other_needs_are_not_described() -> None:
    assert describe(read_query("When was Ann Lee born?"), _page("Ann Lee", LEE)) is None
    assert describe(read_query("What is Bo Orm?"), _page("Ann Lee", LEE)) is None
