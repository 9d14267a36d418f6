"""Sources that contradict each other, and values that only look as if they did."""

from __future__ import annotations

import re

import pytest

from fakes.tower_facts import fact
from iterative_rag.types import Draft, Fact, Inquiry, Need
from iterative_rag.verification.conflicts import TRUSTED, conflicts, with_conflicts

FINISHED = Need("When was Velm Tower finished?")


def said(value: str, title: str = "", need: Need = FINISHED, quote: str = "", score: float = 1.0) -> Fact:
    told = quote or f"Velm Tower on the Orra: {value}."
    return fact(need, title or f"Guide {value}", told, value, score=score)


def values(*facts: Fact) -> list[list[str]]:
    return [[side.value for side in conflict.sides] for conflict in conflicts(facts)]


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        ("1889", "1891", "When was Velm Tower finished?"),
        ("3 March 1889", "4 March 1889", "When was Velm Tower finished?"),
        ("May 1889", "June 1889", "When was Velm Tower finished?"),
        ("330 m", "1,200 ft", "How tall is Velm Tower?"),
        ("Oda Brenk", "Per Holm", "Who designed Velm Tower?"),
        ("12,400", "21,400", "How many people live at Velm Tower?"),
        ("Apollo 11", "Apollo 12", "Which flight saw Velm Tower?"),
        ("3. März 1889", "5. April 1890", "Wann wurde Velm Tower vollendet?"),
    ],
)
def test_values_that_cannot_both_be_true(one: str, other: str, question: str) -> None:
    need = Need(question)
    assert values(said(one, need=need), said(other, need=need)) == [[one, other]]


def test_a_long_name_may_be_said_without_its_title() -> None:
    need = Need("When was King Aldric III born?")
    one, other = (said(year, need=need, quote=f"Aldric III was born in {year}.") for year in ("1204", "1206"))
    assert values(one, other) == [["1204", "1206"]]


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        ("1889", "3 March 1889", "When was Velm Tower finished?"),
        ("3 March 1889", "March 3, 1889", "When was Velm Tower finished?"),
        ("3 March 1889", "le 3 mars 1889", "When was Velm Tower finished?"),
        ("330 m", "1,083 ft", "How tall is Velm Tower?"),
        ("12,400", "12 400", "How many people live at Velm Tower?"),
        ("1.4 million", "1,412,300", "How many people live at Velm Tower?"),
        ("Brenk", "Oda Brenk", "Who designed Velm Tower?"),
        ("O. Brenk", "Oda Brenk", "Who designed Velm Tower?"),
        ("Oda Brenk", "1889", "Who designed Velm Tower?"),
        ("an architect", "a famous teacher", "What was Oda Brenk?"),
        ("Oda Brenk", "Per Holm", "Who were the members of Velm Tower?"),
        ("Oda Brenk", "Per Holm", "Which architects and painters worked on Velm Tower?"),
        ("3 sons", "5 daughters", "How large was the family of Velm Tower?"),
        ("Oda Brenk", "Brenk's", "Whose work is Velm Tower?"),
        ("the UK", "Great Britain", "Where is Velm Tower?"),
        ("Dutch", "Netherlands", "Which country does Velm Tower belong to?"),
    ],
)
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


@pytest.mark.parametrize(
    ("question", "own", "title", "quote", "other"),
    [
        ("When was Ann Lee born?", "Born: 3 May 1791", "Lee House", "Famous owner: Ann Lee (1848–1868)", "1848"),
        ("When did Ann Lee die?", "Ann Lee died in 1868.", "Lee House", "Owner: Ann Lee (1848–1870)", "1870"),
        ("When was Ann Lee born?", "Born: 3 May 1791", "Orra", "Ann Lee was mayor of Orra in 1830.", "1830"),
        (
            "When did the Orra Mill open?",
            "The Orra Mill opened in 1830.",
            "Tarn",
            "The Orra Mill burnt in 1851.",
            "1851",
        ),
        ("Wann wurde Ann Lee geboren?", "Ann Lee wurde 1791 geboren.", "Tarn", "Ann Lee zog 1820 nach Tarn.", "1820"),
    ],
)
def test_the_date_of_something_else_contradicts_nobody(
    question: str, own: str, title: str, quote: str, other: str
) -> None:
    need = Need(question)
    value = re.findall(r"(?:3 May )?\d{4}", own)[0]
    mine = fact(need, " ".join(re.findall(r"Ann Lee|Orra Mill", question)), own, value)
    assert values(mine, fact(need, title, quote, other)) == []
    true = fact(need, title, own.replace(value, "1777") if "Born" not in own else "Ann Lee, born 1777", "1777")
    assert values(mine, true) == [[value, "1777"]]


def test_the_years_of_a_life_count_in_an_article_of_its_own() -> None:
    need = Need("When was Ann Lee born?")
    lived = fact(need, "Ann Lee (miller)", "Ann Lee (1790–1868) was the niece of a miller.", "1790")
    assert values(fact(need, "Tarn", "Ann Lee was born in 1791.", "1791"), lived) == [["1791", "1790"]]


def test_a_fact_that_names_half_of_what_is_asked_contradicts_nobody() -> None:
    need = Need("In which town is the Velm Tower designed by Oda Brenk?")
    own = fact(need, "Oda Brenk", "Oda Brenk designed the Velm Tower in Karsa.", "Karsa")
    other = fact(need, "Per Holm", "Per Holm designed another Velm Tower in Westmark.", "Westmark")
    also = fact(need, "Guide", "The Velm Tower of Oda Brenk stands in Orra.", "Orra")
    assert values(own, other) == []
    assert values(own, also) == [["Karsa", "Orra"]]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When did King Aldric III of Kestria die?", "Aldric III"),
        ("Wann starb Herzog Ottwin IV. von Lauterland?", "Ottwin IV."),
        ("Quand est morte la reine Isaure de Valdoire ?", "Isaure"),
    ],
)
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


def test_a_contradiction_that_the_text_tells_is_not_told_again() -> None:
    facts = (said("1889", "A"), said("1891", "B"))
    given = Draft(True, "1889 by one source [1], 1891 by another [2].", "1889", (0, 1))
    assert with_conflicts(given, Inquiry("Q?", "Q?", facts))[0] == given


def test_only_what_an_answer_rests_on_concerns_it_and_all_concerns_an_abstention() -> None:
    other = Need("Who owned the Orra?")
    facts = (said("1889", "A"), said("1891", "B"), said("Oda Brenk", "C", need=other))
    inquiry = Inquiry("Q?", "Q?", facts)
    kept = Draft(True, "Oda Brenk [1].", "Oda Brenk", (2,))
    assert with_conflicts(kept, inquiry) == (kept, ())
    abstained, found = with_conflicts(Draft(False, "", missing="x"), inquiry)
    assert len(found) == 1
    assert abstained.text == "Sources differ: 1889 [1], 1891 [2]."


def test_five_false_documents_against_five_true_ones_are_shown() -> None:
    facts = tuple(said("1889", f"True {n}") for n in range(5)) + tuple(said("1891", f"False {n}") for n in range(5))
    _, (conflict,) = with_conflicts(Draft(True, "1889 [1].", "1889", (0,)), Inquiry("Q?", "Q?", facts))
    assert [side.facts for side in conflict.sides] == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oda Brenk was mayor of Karsa from 1901 to 1905.", "Per Holm was mayor of Karsa from 1911 to 1915."),
        ("Oda Brenk was mayor of Karsa until 1905.", "Per Holm was mayor of Karsa from 1905 to 1915."),
    ],
)
def test_office_holders_whose_terms_do_not_meet_contradict_nobody(one: str, other: str) -> None:
    need = Need("Who was mayor of Karsa?")
    assert values(said("Oda Brenk", need=need, quote=one), said("Per Holm", need=need, quote=other)) == []


def test_the_years_of_lives_are_no_terms() -> None:
    need = Need("Who designed Velm Tower?")
    one, other = "Oda Brenk (1850–1920) designed Velm Tower.", "Per Holm (1921–1990) designed Velm Tower."
    assert values(said("Oda Brenk", need=need, quote=one), said("Per Holm", need=need, quote=other)) != []
