"""One constructed record for each cause, and for the borders between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.evaluation_records import abstention, hop, record
from iterative_rag.evaluation.failure_causes import cause
from iterative_rag.evaluation.records import Answerability, Cause, FoundFact, Hop, JudgeVerdict, Outcome, QuestionRecord

GOLD = ("a", "b")
QUESTION = "Who designed Velm Tower?"


def found(document: str, value: str = "", statement: str = "", quote: str = "") -> FoundFact:
    return FoundFact("Who?", value, statement, quote, f"Title {document}", document)


def hops(listed: str = "abx", read: str = "abx", facts: tuple[FoundFact, ...] = ()) -> tuple[Hop, ...]:
    return (Hop(n=1, question="Who?", shortlist=tuple(listed), read=tuple(read), facts=facts),)


def wrong(answers: tuple[str, ...] = ("Oda Brenk",), **fields: Any) -> QuestionRecord:
    """A wrong answer to a question that needs the articles a and b."""
    made = record("q", False, **({"answers": answers, "gold": GOLD} | fields))
    return replace(made, question=QUESTION)


def gave_up(answers: tuple[str, ...] = ("Oda Brenk",), **fields: Any) -> QuestionRecord:
    return replace(abstention("q", **({"answers": answers, "gold": GOLD} | fields)), question=QUESTION)


BOTH = (found("a", "Karsa"), found("b", "1911"))

# --- no cause --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fine",
    [
        record("right"),
        record("right to the judge", False, judge=JudgeVerdict.CORRECT),
        record("cannot be told", False, judge=JudgeVerdict.UNJUDGED),
        record("right at the cap", outcome=Outcome.INCOMPLETE, cap="hops"),
        abstention("rightly not answered", Answerability.NOT_IN_CORPUS),
        abstention("false premise seen", Answerability.FALSE_PREMISE),
        wrong(answers=()),  # the dataset accepts nothing: nobody can tell
    ],
    ids=lambda one: one.id,
)
def test_what_is_right_or_cannot_be_told_has_no_cause(fine: QuestionRecord) -> None:
    assert cause(fine) is None


# --- one of each -----------------------------------------------------------------------------

HELD = hops(facts=(found("a", "Oda Brenk"),))
CASES: list[tuple[str, QuestionRecord, Cause]] = [
    ("fault", wrong(outcome=Outcome.FAULT, fault="LLMTimeout"), Cause.FAULT),
    ("cap", wrong(outcome=Outcome.INCOMPLETE, cap="hops"), Cause.CAP),
    ("composed", wrong(hops=HELD), Cause.COMPOSED_WRONGLY),
    ("abstained", gave_up(hops=HELD), Cause.ABSTAINED),
    ("never shortlisted", wrong(hops=hops("x", "x")), Cause.NEVER_SHORTLISTED),
    ("no hop at all", gave_up(hops=()), Cause.NEVER_SHORTLISTED),
    ("not read", wrong(hops=hops("axb", "x")), Cause.NOT_READ),
    ("not extracted", wrong(hops=hops("axb", "axb", (found("x", "Karsa"),))), Cause.NOT_EXTRACTED),
    ("no gold", wrong(gold=(), hops=hops()), Cause.NO_GOLD),
    ("answered unanswerable", wrong(kind=Answerability.NOT_IN_CORPUS, gold=()), Cause.ANSWERED_UNANSWERABLE),
    ("answered a false premise", wrong(kind=Answerability.FALSE_PREMISE, hops=HELD), Cause.ANSWERED_UNANSWERABLE),
]


def test_the_cases_cover_every_cause() -> None:
    assert {expected for _, _, expected in CASES} == set(Cause)


# --- borders: which of two comes first -------------------------------------------------------

BORDERS: list[tuple[str, QuestionRecord, Cause]] = [
    ("a fault after a cap", wrong(outcome=Outcome.FAULT, fault="LLMTimeout", cap="calls", hops=HELD), Cause.FAULT),
    ("a fault with a right answer so far", record("q", outcome=Outcome.FAULT, fault="x"), Cause.FAULT),
    ("a cap with the fact found", wrong(outcome=Outcome.INCOMPLETE, cap="seconds", hops=HELD), Cause.CAP),
    ("a cap, unanswerable", wrong(kind=Answerability.FALSE_PREMISE, outcome=Outcome.INCOMPLETE, cap="hops"), Cause.CAP),
    ("no gold, answer found", wrong(gold=(), hops=HELD), Cause.COMPOSED_WRONGLY),
    ("no gold, abstained", gave_up(gold=(), hops=hops()), Cause.NO_GOLD),
    ("all articles gave facts, none the answer", wrong(hops=hops(facts=BOTH)), Cause.COMPOSED_WRONGLY),
    ("answer found, an article lost", wrong(hops=hops("a", "a", (found("a", "Oda Brenk"),))), Cause.COMPOSED_WRONGLY),
    ("answer found in an article that is not needed", wrong(hops=hops("x", "x", (found("x", "Brenk, Oda Brenk"),))),
     Cause.COMPOSED_WRONGLY),
    ("an article the corpus lacks", wrong(gold=("a",), missing_gold=("B",), hops=hops(facts=BOTH[:1])),
     Cause.NEVER_SHORTLISTED),
    ("the same, abstained", gave_up(gold=(), missing_gold=("B",)), Cause.NEVER_SHORTLISTED),
    ("the first lost article counts, not the worst", wrong(hops=hops("a", "a")), Cause.NOT_EXTRACTED),
    ("the first gave facts, the second was lost", wrong(hops=hops("ax", "a", BOTH[:1])), Cause.NEVER_SHORTLISTED),
    ("shortlisted in one hop, read in another",
     wrong(gold=("a",), hops=(hop(1, listed="a"), hop(2, listed="a", read="a"))), Cause.NOT_EXTRACTED),
    ("a fact counts even where reading was not noted", wrong(gold=("a",), hops=hops("", "", BOTH[:1])),
     Cause.COMPOSED_WRONGLY),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "expected"), [*CASES, *BORDERS])
def test_each_cause(name: str, given: QuestionRecord, expected: Cause) -> None:
    assert cause(given) is expected


# --- is the answer in the facts? -------------------------------------------------------------


IN, OUT = Cause.COMPOSED_WRONGLY, Cause.NEVER_SHORTLISTED


@pytest.mark.parametrize(
    ("answers", "fact", "expected"),
    [
        (("Oda Brenk",), found("x", value="the architect Oda Brenk"), IN),
        (("Oda Brenk",), found("x", statement="Velm Tower was designed by Oda Brenk."), IN),
        (("Oda Brenk",), found("x", quote="designed by Öda  BRENK, Ludwig Holm and others"), IN),
        (("nobody", "Oda Brenk"), found("x", value="Oda Brenk"), IN),  # any accepted answer
        (("5 June 1987",), found("x", quote="on June 5, 1987, it"), IN),
        (("87 years",), found("a", value="eighty-seven"), IN),  # a small number: the value of a needed article's fact
        (("Oda Brenk",), found("a", value="Brenk", statement="Oda Holm", quote="Oda and Brenk"), OUT),
        (("12",), found("a", value="12 March 1911"), OUT),
        (("87",), found("a", statement="She was 87.", quote="aged 87"), OUT),  # by chance in a sentence
        (("87",), found("x", value="87"), OUT),  # by chance in another article
        (("yes",), found("a", value="yes", quote="Yes, it is."), OUT),
        (("Velm Tower",), found("a", value="Velm Tower"), OUT),  # the question names it
    ],
)
def test_an_answer_is_in_a_fact_or_not(answers: tuple[str, ...], fact: FoundFact, expected: Cause) -> None:
    """Only an answer that was found is composed wrongly here: article b gave nothing, and was never shortlisted."""
    assert cause(wrong(answers, hops=hops("a", "a", (found("a"), fact)))) is expected
