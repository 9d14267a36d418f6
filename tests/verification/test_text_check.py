"""Which sentences and cells of a text stay: honest paraphrases do, what no quote holds does not."""

from __future__ import annotations

import pytest

from iterative_rag.types import AnswerForm, Draft, Fact, Inquiry, Need
from iterative_rag.verification.text_check import CheckedText, check_text
from tests.tables import table

QUOTES = (
    "Velm Tower was drawn in 1902 by Oda Brenk, a young engineer of the harbour office.",
    "The board of the harbour did not care for the plan at first.",
    "Some 18,000 pieces of iron were joined with about two and a half million rivets.",
    "Velm Tower was ready in May 1911, after nine years.",
    "The painter Tomas Vey had called it useless and monstrous.",
    "Orra Tower passed it in 1930.",
    "It now measures 98 metres.",
)


def checked(text: str, quotes: tuple[str, ...] = QUOTES) -> CheckedText:
    need = Need("What is known about Velm Tower?")
    facts = tuple(
        Fact(quote, quote, "", "velm", "Velm Tower", "velm.md", 200 * n, 200 * n + len(quote), need, 1.0)
        for n, quote in enumerate(quotes)
    )
    inquiry = Inquiry("How was Velm Tower built?", "How was Velm Tower built?", facts)
    return check_text(inquiry, Draft(True, text, cited=tuple(range(len(facts))), form=AnswerForm.EXPLANATION))


@pytest.mark.parametrize("said", [said for (said,) in table(__file__, "stays")])
def test_a_paraphrase_of_what_it_cites_stays(said: str) -> None:
    assert checked(said).left_out == 0


@pytest.mark.parametrize(("said", "reason"), table(__file__, "goes"))
def test_what_the_quotes_do_not_hold_goes(said: str, reason: str) -> None:
    result = checked(f"{said} Velm Tower now measures 98 metres [7].")
    assert result.text == "Velm Tower now measures 98 metres [7]."
    assert [reason in claim.reason for claim in result.claims] == [True, False]


def test_headings_and_decoration_are_no_part_of_the_text() -> None:
    said = "# The pride of Karsa\n\n**It now measures 98 metres [7].**\n\n1. Tomas Vey called it useless [5]."
    assert checked(said).text == "It now measures 98 metres [7].\n\n- Tomas Vey called it useless [5]."


@pytest.mark.parametrize("rule", ["|---|---|\n", ""])
def test_a_row_of_which_nothing_is_left_goes(rule: str) -> None:
    table = f"| Tower | Height |\n{rule}| Velm Tower | 98 m [7] |\n| Orra Tower | 120 m [6] |\n| Third | n/a |"
    result = checked(table)
    assert result.text.splitlines() == ["| Tower | Height |", "| --- | --- |", "| Velm Tower | 98 m [7] |"]
    assert result.left_out == 1


def test_a_number_of_another_fact_is_cited_from_there_where_it_proves_the_sentence() -> None:
    assert checked("Velm Tower was ready in May 1911 [7].").text == "Velm Tower was ready in May 1911 [4]."


@pytest.mark.parametrize(("said", "left"), table(__file__, "pronouns"))
def test_a_pronoun_does_not_outlive_the_sentence_that_says_whom_it_means(said: str, left: str) -> None:
    assert checked(said).text == left
