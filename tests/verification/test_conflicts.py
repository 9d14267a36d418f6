"""Sources that contradict each other, and values that only look as if they did."""

from __future__ import annotations

import re

import pytest

from fakes.tower_facts import fact
from iterative_rag.types import Draft, Fact, Inquiry, Need
from iterative_rag.verification.conflicts import TRUSTED, conflicts, with_conflicts
from tests.tables import table

FINISHED = Need("When was Velm Tower finished?")


def said(value: str, title: str = "", need: Need = FINISHED, quote: str = "", score: float = 1.0) -> Fact:
    told = quote or f"Velm Tower on the Orra: {value}."
    return fact(need, title or f"Guide {value}", told, value, score=score)


def values(*facts: Fact) -> list[list[str]]:
    return [[side.value for side in conflict.sides] for conflict in conflicts(facts)]


@pytest.mark.parametrize(("one", "other", "question"), table(__file__, "exclude"))
def test_values_that_cannot_both_be_true(one: str, other: str, question: str) -> None:
    need = Need(question)
    assert values(said(one, need=need), said(other, need=need)) == [[one, other]]


@pytest.mark.parametrize(("one", "other", "question"), table(__file__, "agree"))
def test_values_that_may_both_be_true(one: str, other: str, question: str) -> None:
    need = Need(question)
    assert values(said(one, need=need), said(other, need=need)) == []


def test_one_document_does_not_contradict_itself_and_low_trust_does_not_count() -> None:
    assert values(said("1889", "Guide"), said("1891", "Guide")) == []
    assert values(said("1889", "A"), said("1891", "B"), said("1891", "A")) == []
    assert values(said("1889"), said("1891", score=TRUSTED - 0.01)) == []
    assert conflicts([said("1889"), said("1891", score=0.3)], least=0.2)


def test_others_of_a_name_and_figures_of_other_years_are_no_contradiction() -> None:
    born = Need("When was George Holm born?")
    own = fact(born, "George Holm", "George Holm was born in 1860.", "1860")
    son = fact(born, "John Holm", "John (1792–1840) was the father of George, later Lord Holm.", "1792")
    assert values(own, son) == []
    film = fact(FINISHED, "Velm Tower (1973 film)", "Velm Tower came out in 1973.", "1973")
    assert values(fact(FINISHED, "Velm Tower", "Velm Tower was finished in 1911.", "1911"), film) == []
    many = Need("How many people live in Orra?")
    early = fact(many, "Orra", "Orra had 12,400 inhabitants in 1990.", "12,400")
    late = fact(many, "Orra today", "In 2020 Orra had 14,100 inhabitants.", "14,100")
    assert values(early, late) == []


@pytest.mark.parametrize(("question", "own", "title", "quote", "other"), table(__file__, "elsewhere"))
def test_the_date_of_something_else_contradicts_nobody(
    question: str, own: str, title: str, quote: str, other: str
) -> None:
    need = Need(question)
    value = re.findall(r"(?:3 May )?\d{4}", own)[0]
    mine = fact(need, " ".join(re.findall(r"Ann Lee|Orra Mill", question)), own, value)
    assert values(mine, fact(need, title, quote, other)) == []
    true = fact(need, title, own.replace(value, "1777") if "Born" not in own else "Ann Lee, born 1777", "1777")
    assert values(mine, true) == [[value, "1777"]]


@pytest.mark.parametrize(("question", "name"), table(__file__, "without_place"))
def test_a_name_may_be_said_without_its_place(question: str, name: str) -> None:
    need = Need(question)
    own, other = (fact(need, title, f"{name}: {year}.", year) for title, year in ((name, "1871"), ("Annals", "1873")))
    assert values(own, other) == [["1871", "1873"]]


def test_both_sides_are_cited_and_the_markers_fit() -> None:
    facts = (said("1889", "A"), said("1891", "B"), said("1891", "C"), said("1889", "D"))
    draft, found = with_conflicts(Draft(True, "In 1889 [1].", "1889", (3,)), Inquiry("Q?", "Q?", facts))
    (conflict,) = found
    assert {(side.value, side.facts) for side in conflict.sides} == {("1889", (0, 3)), ("1891", (1, 2))}
    assert draft.text == "In 1889 [1]. Sources differ: 1889 [1], 1891 [2]."
    assert draft.cited == (3, 1)
    assert max(map(int, re.findall(r"\[(\d+)\]", draft.text))) == len(draft.cited)


def test_only_what_an_answer_rests_on_concerns_it_and_all_concerns_an_abstention() -> None:
    other = Need("Who owned the Orra?")
    facts = (said("1889", "A"), said("1891", "B"), said("Oda Brenk", "C", need=other))
    inquiry = Inquiry("Q?", "Q?", facts)
    kept = Draft(True, "Oda Brenk [1].", "Oda Brenk", (2,))
    assert with_conflicts(kept, inquiry) == (kept, ())
    abstained, found = with_conflicts(Draft(False, "", missing="x"), inquiry)
    assert len(found) == 1
    assert abstained.text == "Sources differ: 1889 [1], 1891 [2]."
