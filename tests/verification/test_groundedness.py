"""Claims against facts by rule: what is proved, what has failed, and what stays open."""

from __future__ import annotations

import random

import pytest

from fakes import groundedness_cases
from fakes.tower_facts import AGE, INQUIRY, draft, fact
from iterative_rag.types import Claim, Draft, Inquiry, Need
from iterative_rag.verification.claim_matching import split_claims
from iterative_rag.verification.groundedness import Standing, check
from tests.tables import table


def claims(inquiry: Inquiry, draft: Draft) -> tuple[Claim, ...]:
    return tuple(checked.claim for checked in check(inquiry, draft))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Dr. J. K. Brenk drew 3.5 km of it [1]. She left.", ["Dr. J. K. Brenk drew 3.5 km of it", "She left."]),
        ("Am 3. März 1874 in St. Orra geboren [1]. Im 19. Jahrhundert.", None),
        ("The U.S. won [1][2], and it lost [3]; so it ended.", ["The U.S. won", "and it lost", "so it ended."]),
        ("37: Oda Brenk was born in 1874 [1].", ["37", "Oda Brenk was born in 1874"]),
        ("No. He was Danish [1]. See No. 5.", ["No.", "He was Danish", "See No. 5."]),
        ("", []),
    ],
)
def test_an_answer_is_cut_into_claims(text: str, pieces: list[str] | None) -> None:
    wanted = pieces or ["Am 3. März 1874 in St. Orra geboren", "Im 19. Jahrhundert."]
    assert [piece.text for piece in split_claims(text, "37")] == (wanted if text else [])


@pytest.mark.parametrize("text", [text for (text,) in table(__file__, "proved")])
def test_what_the_facts_say_is_proved(text: str) -> None:
    assert all(claim.grounded for claim in claims(INQUIRY, draft(text, "37", AGE)))


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("Per Holm designed Velm Tower [1].", Standing.FAILED),  # another name
        ("Velm Tower was finished in 1912 [1].", Standing.FAILED),  # another year
        ("Oda Brenk was born on 4 March 1874 [2].", Standing.FAILED),  # another day
        ("Velm Tower has 37 floors [1].", Standing.FAILED),  # a number from nowhere
        ("Tomas Vey designed Velm Tower [1].", Standing.OPEN),  # known, but from another fact
        ("Lena Fisk was born on 3 March 1874 [2].", Standing.OPEN),
        ("Velm Tower was finished in 1874 [1].", Standing.OPEN),
        ("Oda Brenk was born in 1950 [2].", Standing.OPEN),
        ("Oda Brenk designed the tallest tower in Karsa [1].", Standing.OPEN),
        ("Oda Brenk did not design Velm Tower [1].", Standing.OPEN),
        ("Oda Brenk designed it because of a flood [1].", Standing.OPEN),
    ],
)
def test_what_they_do_not_say_is_not(text: str, standing: Standing) -> None:
    (checked,) = check(INQUIRY, draft(text))
    assert (checked.standing, checked.claim.grounded) == (standing, False)
    assert checked.claim.reason


@pytest.mark.parametrize(("quote", "text", "grounded"), table(__file__, "other_names"))
def test_another_form_of_a_name_proves_a_claim(quote: str, text: str, grounded: bool) -> None:
    question = "What did Oda Brenk do?"
    inquiry = Inquiry(question, question, (fact(Need(question), "Oda Brenk", quote),))
    (claim,) = claims(inquiry, Draft(True, text, "", (0,)))
    assert (claim.grounded, claim.text) == (grounded, text.removesuffix(" [1]."))


def test_a_number_needs_its_computation() -> None:
    said = "Oda Brenk was 37 years old when Velm Tower was finished [1][2]."
    assert claims(INQUIRY, draft(said, "37", AGE))[0].facts == (0, 1)
    assert not claims(INQUIRY, draft(said))[0].grounded
    assert not claims(INQUIRY, draft(said.replace("years", "months"), "37", AGE))[0].grounded


NUMBERS = fact(
    Need("How many people live in Orra?"),
    "Orra",
    "Orra has 12,400 inhabitants, covers 31.5 km² and has been twinned with Karsa for seven seasons.",
)


@pytest.mark.parametrize(("text", "grounded"), table(__file__, "numbers"))
def test_numbers_are_read_and_not_compared_as_text(text: str, grounded: bool) -> None:
    inquiry = Inquiry("How large is Orra?", "How large is Orra?", (NUMBERS,))
    found = claims(inquiry, Draft(True, text, "12,400", (0,)))
    assert all(claim.grounded for claim in found) is grounded


@pytest.mark.parametrize(("quote", "right", "wrong"), table(__file__, "languages"))
def test_other_languages_are_held_to_the_same(quote: str, right: str, wrong: str) -> None:
    inquiry = Inquiry("?", "?", (fact(Need("?"), "Brenk", quote),))
    assert all(claim.grounded for claim in claims(inquiry, Draft(True, right, "x", (0,))))
    assert not all(claim.grounded for claim in claims(inquiry, Draft(True, wrong, "x", (0,))))


def test_nothing_breaks_on_strange_drafts() -> None:
    for text in ("", "...", "[1][2]", "[99]", "？！", "— ; : ,", "A" * 5000, "1 " * 2000, "«" * 50 + "3.3.3.3"):
        assert isinstance(claims(INQUIRY, draft(text)), tuple)
    assert claims(Inquiry("?", "?"), draft("Oda Brenk [1]."))[0].grounded is False
    assert claims(INQUIRY, Draft(False, "Nothing is said of Oda Brenk.", missing="x")) == ()


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("Oda Brenk drew a large plan [1].", True),
        ("Oda Brenk drew the largest plan [1].", False),  # a superlative claims more than its word
        ("Oda Maria Brenk drew a large plan [1].", False),
    ],
)
def test_a_name_may_be_longer_in_the_quote_and_a_word_no_stronger_in_the_claim(text: str, grounded: bool) -> None:
    told = fact(Need("What was drawn?"), "Orra", "Oda von der Brenk drew a large plan of Orra.")
    found = claims(Inquiry("What did she draw?", "?", (told,)), Draft(True, text, "a plan", (0,)))
    assert [claim.grounded for claim in found] == [grounded]


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


@pytest.mark.parametrize(("title", "quote", "text", "grounded"), table(__file__, "titles"))
def test_a_title_names_its_subject_and_proves_nothing_else(title: str, quote: str, text: str, grounded: bool) -> None:
    question = "Who or what had to do with the 15th mayor?"
    inquiry = Inquiry(question, question, (fact(Need(question), title, quote),))
    assert all(claim.grounded for claim in claims(inquiry, Draft(True, text, "x", (0,)))) is grounded
