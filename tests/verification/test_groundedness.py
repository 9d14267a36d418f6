"""Claims against facts by rule: what is proved, what has failed, and what stays open."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fakes import groundedness_cases
from fakes.tower_facts import AGE, INQUIRY, draft, fact
from iterative_rag.types import Claim, Draft, Inquiry, Need
from iterative_rag.verification.claim_matching import split_claims
from iterative_rag.verification.groundedness import Standing, check
from iterative_rag.verification.rule_reflector import RuleReflector
from tests.tables import table


def claims(inquiry: Inquiry, draft: Draft) -> tuple[Claim, ...]:
    return tuple(checked.claim for checked in check(inquiry, draft))


@pytest.mark.parametrize(("text", "pieces"), table(__file__, "pieces"))
def test_an_answer_is_cut_into_claims(text: str, pieces: list[str]) -> None:
    assert [piece.text for piece in split_claims(text, "37")] == pieces


@pytest.mark.parametrize("text", [text for (text,) in table(__file__, "proved")])
def test_what_the_facts_say_is_proved(text: str) -> None:
    assert all(claim.grounded for claim in claims(INQUIRY, draft(text, "37", AGE)))


@pytest.mark.parametrize(("text", "standing"), table(__file__, "unproved"))
def test_what_they_do_not_say_is_not(text: str, standing: str) -> None:
    (checked,) = check(INQUIRY, draft(text))
    assert (checked.standing, checked.claim.grounded) == (Standing(standing), False)
    assert checked.claim.reason


@pytest.mark.parametrize(("question", "quote", "text", "short", "standing"), table(__file__, "of_persons"))
def test_who_is_named_must_stand_in_a_fact_that_does_not_deny_it(
    question: str, quote: str, text: str, short: str, standing: str
) -> None:
    need = Need(question)
    inquiry = Inquiry(question, question, (fact(need, "Karl Lund", quote),), (need,))
    (checked,) = check(inquiry, Draft(True, text, short, (0,)))
    assert checked.standing is Standing(standing)


def test_a_number_needs_its_computation() -> None:
    said = "Oda Brenk was 37 years old when Velm Tower was finished [1][2]."
    assert claims(INQUIRY, draft(said, "37", AGE))[0].facts == (0, 1)
    assert not claims(INQUIRY, draft(said))[0].grounded
    assert not claims(INQUIRY, draft(said.replace("years", "months"), "37", AGE))[0].grounded


def test_nothing_breaks_on_strange_drafts() -> None:
    for text in ("", "...", "[1][2]", "[99]", "？！", "— ; : ,", "A" * 5000, "1 " * 2000, "«" * 50 + "3.3.3.3"):
        assert isinstance(claims(INQUIRY, draft(text)), tuple)
    assert claims(Inquiry("?", "?"), draft("Oda Brenk [1]."))[0].grounded is False
    assert claims(INQUIRY, Draft(False, "Nothing is said of Oda Brenk.", missing="x")) == ()


@pytest.mark.parametrize("half", ["tuning", "held"])
def test_constructed_answers_are_judged_as_well_as_ever(half: str, request: pytest.FixtureRequest) -> None:
    """Answers of a scripted LLM, of which every third or so makes an unsupported claim."""
    count = 400 if request.config.getoption("nightly") else 120
    rng, templates = random.Random(7), groundedness_cases.scenes(half)
    caught, added, supported, rejected = 0, 0, 0, 0
    for n in range(count):
        made = groundedness_cases.case(templates[n % len(templates)], rng)
        found = claims(made.inquiry, groundedness_cases.drafted(made))
        hit, wrong = groundedness_cases.judged(made, found)
        added += hit is not None
        caught += bool(hit)
        supported += len(found) - (hit is not None)
        rejected += len(wrong)
    assert added > 0.22 * count
    assert added - caught <= max(2, 0.05 * added)
    assert rejected <= 0.03 * supported


@pytest.mark.parametrize(("title", "quote", "text", "grounded"), table(__file__, "quoted"))
def test_a_quote_proves_what_it_says_and_its_title_names_the_subject_alone(
    title: str, quote: str, text: str, grounded: bool
) -> None:
    question = "Who or what had to do with the 15th mayor?"
    inquiry = Inquiry(question, question, (fact(Need(question), title, quote),))
    (claim,) = claims(inquiry, Draft(True, text, "x", (0,)))
    assert (claim.grounded, claim.text) == (grounded, text.removesuffix(" [1]."))


def test_a_reflection_by_rule_passes_what_is_open_unless_it_is_strict() -> None:
    said = "Oda Brenk designed Velm Tower [1]."
    every = draft(f"{said} Oda Brenk drew up the plans for Velm Tower [1]. It was finished in 1912 [1].")
    assert [claim.grounded for claim in RuleReflector().reflect(INQUIRY, every).claims] == [True, True, False]
    strict = RuleReflector(strict=True).reflect(INQUIRY, every)
    assert [claim.grounded for claim in strict.claims] == [True, False, False]
    assert RuleReflector().reflect(INQUIRY, draft(said, "Oda Brenk")).useful is True
    year = replace(INQUIRY, original="In which year was Velm Tower finished?")
    assert RuleReflector().reflect(year, draft(said, "the great harbour of Karsa")).useful is False
