"""Citations numbered by quote, and the chain of an answer in an order that can be followed."""

from __future__ import annotations

from iterative_rag.engine.citation_chain import CitationNumbers
from iterative_rag.types import ChainLink, Fact, Need


def fact(question: str, value: str, start: int) -> Fact:
    quote = f"| **{value}** | so it is |"
    return Fact(quote, quote, value, "d", "Orm", "Orm.md", start, start + len(quote), Need(question), 0.9)


QUEEN = fact("Who is the 2nd queen of Orm?", "Ann Orley", 0)
MOTHER = fact("Who is Ann Orley's mother?", "Eva Reed", 100)
SAME_QUOTE = fact("Who is the painter of Orm?", "Ann Orley", 0)


def test_one_quote_has_one_number() -> None:
    numbers = CitationNumbers((QUEEN, MOTHER, SAME_QUOTE), (0, 2, 1))
    assert [(one.n, one.start) for one in numbers.citations()] == [(1, 0), (2, 100)]
    assert numbers.renumbered("Ann Orley [1][2], child of Eva Reed [3].") == "Ann Orley [1], child of Eva Reed [2]."
    assert numbers.of((1, 2)) == (2, 1)


def test_a_citation_has_its_quote_for_reading_beside_the_verbatim_one() -> None:
    (citation,) = CitationNumbers((QUEEN,), (0,)).citations()
    assert (citation.quote, citation.display) == ("| **Ann Orley** | so it is |", "Ann Orley: so it is")


def test_a_link_comes_after_those_that_it_builds_on() -> None:
    """An answer that names the conclusion first cites it first."""
    chain = CitationNumbers((QUEEN, MOTHER), (1, 0), {1: (0,)}).chain()
    assert chain == (
        ChainLink("Who is the 2nd queen of Orm?", "Ann Orley", (2,)),
        ChainLink("Who is Ann Orley's mother?", "Eva Reed", (1,), (2,)),
    )


def test_findings_of_one_need_that_agree_are_one_link() -> None:
    twice = fact(QUEEN.need.question, "ann orley", 200)
    assert CitationNumbers((QUEEN, twice), (0, 1)).chain() == (ChainLink(QUEEN.need.question, "Ann Orley", (1, 2)),)


def test_a_number_keeps_its_unit_in_the_answer_and_in_the_chain() -> None:
    quote = "| Height | 661 ft |"
    height = Fact(quote, quote, "661", "d", "Orm", "Orm.md", 0, len(quote), Need("How tall is the Orm Mast?"), 0.9)
    numbers = CitationNumbers((height, QUEEN), (0, 1))
    assert (numbers.with_unit("661"), numbers.with_unit("12"), numbers.with_unit("Ann")) == ("661 ft", "12", "Ann")
    assert numbers.chain()[0].found == "661 ft"
