"""Facts about an invented tower and its architect, and drafts upon them."""

from __future__ import annotations

from iterative_rag.types import Computation, Draft, Fact, Inquiry, Need

DESIGNER = Need("Who designed Velm Tower?")
BORN = Need("When was Oda Brenk born?")
QUESTION = "How old was the architect of Velm Tower when it was finished?"


def fact(need: Need, title: str, quote: str, value: str = "", *, statement: str = "", score: float = 1.0) -> Fact:
    """A fact of a document of its own: the title is its id."""
    return Fact(
        statement or quote, quote, value, title, title, f"{title}.md", len(quote), 2 * len(quote), need, score
    )  # fmt: skip


TOWER = fact(
    DESIGNER,
    "Velm Tower",
    "The tower in Karsa was designed by Oda Brenk, helped by Lena Fisk, and finished in 1911.",
    "Oda Brenk",
    statement="Velm Tower was designed by Oda Brenk and finished in 1911.",
)
BRENK = fact(
    BORN,
    "Oda Brenk",
    "Oda Brenk (3 March 1874 – 1950) was an architect from Orra; her teacher was Tomas Vey.",
    "3 March 1874",
    statement="Oda Brenk was born on 3 March 1874.",
)
INQUIRY = Inquiry(QUESTION, QUESTION, (TOWER, BRENK), (DESIGNER, BORN))
AGE = Computation("1911 - 1874", "37", (0, 1))


def draft(text: str, short: str = "37", *computations: Computation) -> Draft:
    return Draft(True, text, short, (0, 1), confidence=0.9, computations=computations)
