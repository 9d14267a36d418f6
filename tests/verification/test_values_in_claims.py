"""Values in claims and facts: the same in any writing, and told apart where they differ."""

from __future__ import annotations

import pytest

from fakes.tower_facts import fact
from iterative_rag.types import Computation, Draft, Inquiry, Need
from iterative_rag.verification.conflicts import conflicts
from iterative_rag.verification.groundedness import Standing, check
from tests.text.table import rows


def standing(claim: str, quote: str, *computations: Computation, question: str = "What of Velm Tower?") -> Standing:
    """What the rule makes of one claim by one quoted fact."""
    facts = (fact(Need(question), "Velm Tower", quote),)
    draft = Draft(True, f"{claim} [1].", "x", (0,), computations=computations)
    return check(Inquiry(question, question, facts), draft)[0].standing


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Velm Tower has 105 floors", "Velm Tower has one hundred and five floors."),
        ("Velm Tower has one hundred and five floors", "Velm Tower has 105 floors."),
        ("Velm Tower opened on 5 September 1874", "Velm Tower opened on Sept 5, 1874."),
        ("Velm Tower cost 5 million dollars", "Velm Tower cost $5m."),
        ("Velm Tower stands on 5 square miles", "Velm Tower stands on 5 sq mi."),
        ("Velm Tower was built by the forty-second king", "Velm Tower was built by the 42nd king."),
        ("Velm Tower was built in the 1870s", "Velm Tower was built on 3 March 1874."),
        ("Velm Tower was built in the 19th century", "Velm Tower was built in 1874."),
        ("Velm Tower fell in 44 BC", "Velm Tower fell on 15 March 44 BC."),
        ("The tour of Velm Tower takes 2.5 hours", "The 2½-hour tour of Velm Tower takes long."),
        ("Two thirds of Velm Tower burned", "2/3 of Velm Tower burned."),
        ("Der Velm Tower hat hundertfünf Stockwerke und steht am Fluss", "The Velm Tower on the river has 105 floors."),
        ("Perhaps Jane", "Jane designed it."),
        ("Probably Jane", "Jane designed it."),
        ("Oda Brenk was born in 1874 and died in 1950", "Oda Brenk (b. 3 March 1874, † 1950) was an architect."),
    ],
)
def test_a_value_is_proved_in_any_writing(claim: str, quote: str) -> None:
    assert standing(claim, quote) is Standing.PROVED


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Velm Tower has 105 floors", "Velm Tower has one hundred and six floors."),
        ("Velm Tower has five floors", "Velm Tower has one hundred and five floors."),
        ("Velm Tower is 5 metres tall", "Velm Tower cost $5m and is tall."),
        ("Velm Tower stands on 5 miles", "Velm Tower stands on 5 sq mi."),
        ("Velm Tower was built by the 41st king", "Velm Tower was built by the 42nd king."),
        ("Velm Tower was built in the 1880s", "Velm Tower was built on 3 March 1874."),
        ("Velm Tower fell in AD 44", "Velm Tower fell in 44 BC."),
    ],
)
def test_another_value_has_failed(claim: str, quote: str) -> None:
    assert standing(claim, quote) is Standing.FAILED


DAYS = Computation("days(28 July 1941, 17 July 1959)", "6563", (0,))
LIVED = "Oda Brenk was born on 28 July 1941 and died on 17 July 1959."
HOURS = Computation("143320 min to h", "2388.666667 h", (0,))


@pytest.mark.parametrize(
    ("claim", "quote", "computation", "proved"),
    [
        ("Oda Brenk died 6563 days after she was born", LIVED, DAYS, True),
        ("Oda Brenk died 6,563 days after she was born", LIVED, DAYS, True),
        ("Oda Brenk died 6563 years after she was born", LIVED, DAYS, False),
        ("Oda Brenk died 6564 days after she was born", LIVED, DAYS, False),
        ("The journey took 2388 hours and 40 minutes", "The journey took 143,320 minutes.", HOURS, True),
        ("The journey took 2388.67 hours", "The journey took 143,320 minutes.", HOURS, True),
        ("The journey took 2388 hours and 10 minutes", "The journey took 143,320 minutes.", HOURS, False),
    ],
)
def test_a_result_is_restated_in_its_own_or_another_unit(
    claim: str, quote: str, computation: Computation, proved: bool
) -> None:
    assert (standing(claim, quote, computation) is Standing.PROVED) is proved


def test_every_text_of_the_table_proves_itself() -> None:
    told = [row for row in rows() if row.meaning]
    failed = [row for row in told if standing(f"Velm: {row.text}", f"Velm: {row.text}.") is Standing.FAILED]
    assert failed == []


@pytest.mark.parametrize(
    ("question", "one", "other", "differ"),
    [
        ("How many floors has Velm Tower?", "105", "one hundred and five", False),
        ("What did Velm Tower cost?", "$5m", "5 million dollars", False),
        ("How large is Velm Tower?", "5 sq mi", "5 square miles", False),
        ("When was Velm Tower built?", "Sept 5, 1874", "5 September 1874", False),
        ("When was Velm Tower built?", "44 BC", "44 BCE", False),
        ("When was Velm Tower built?", "the 1870s", "1874", False),
        ("How many floors has Velm Tower?", "105", "one hundred and six", True),
        ("When was Velm Tower built?", "44 BC", "AD 44", True),
        ("When was Velm Tower built?", "the 1870s", "1884", True),
    ],
)
def test_sources_differ_in_values_and_not_in_writing(question: str, one: str, other: str, differ: bool) -> None:
    facts = [fact(Need(question), f"Guide {said}", f"Velm Tower: {said}.", said) for said in (one, other)]
    assert bool(conflicts(facts)) is differ


MAYOR = Need("Who was mayor of Orra in 1912?")


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("was mayor of Orra from 1908 to 3 June 1912", "was mayor of Orra from 4 June 1912 to 1916", False),
        ("was mayor of Orra until 3 June 1912", "became mayor of Orra in June 1912", False),
        ("(1908–1912) was mayor of Orra", "(1912–1916) was mayor of Orra", False),
        ("was mayor of Orra from 1908 to 1914", "was mayor of Orra from 1910 to 1916", True),
        ("was mayor of Orra in 1912", "was mayor of Orra in 1912", True),
    ],
)
def test_two_who_held_an_office_in_turn_are_no_contradiction(one: str, other: str, differ: bool) -> None:
    names = (("Oda Brenk", one), ("Per Holm", other))
    facts = [fact(MAYOR, f"Guide {name}", f"{name} {said}.", name) for name, said in names]
    assert bool(conflicts(facts)) is differ


def test_the_years_of_lives_decide_nothing() -> None:
    need = Need("Who designed Velm Tower?")
    facts = [
        fact(need, "Guide A", "Oda Brenk (1850–1890) designed Velm Tower.", "Oda Brenk"),
        fact(need, "Guide B", "Per Holm (1891–1950) designed Velm Tower.", "Per Holm"),
    ]
    assert conflicts(facts)
