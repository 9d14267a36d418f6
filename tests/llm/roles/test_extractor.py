"""The extractor: facts with their quotes, and which of the needs asked they serve."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.scripted_llm import ScriptedLLM
from iterative_rag.types import Extract, Need
from tests.llm.inquiries import INQUIRY, TRIED, WINDOW, roles


def test_extracts_are_typed_and_at_most_five_statements() -> None:
    row = {"statement": "Oda Brenk designed it.", "sentences": [1], "value": "Oda Brenk"}
    others = [
        {**row, "statement": f"It was designed by Oda Brenk, {how}."} for how in ("too", "also", "so", "as", "or")
    ]
    with ScriptedLLM({"extract": [{"facts": [row, row, *others]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [WINDOW], INQUIRY.original)
    assert extracts[0] == Extract("Oda Brenk designed it.", "It was designed by Oda Brenk.", "Oda Brenk")
    assert len(extracts) == 5


def test_the_document_is_fenced_and_the_need_comes_last_and_normalised() -> None:
    with ScriptedLLM({"extract": [{"facts": []}, {"facts": []}]}) as llm:
        extractor = roles(llm).extractor
        extractor.extract([Need("Who designed  it ?")], [WINDOW], INQUIRY.original)
        extractor.extract([Need("Who designed it")], [WINDOW], INQUIRY.original)
    first, second = (request.user for request in llm.requests)
    assert first == second
    lines = first.splitlines()
    assert lines[0].startswith("<document ")
    assert lines[-3] == lines[0].replace("<document", "</document")
    assert lines[-2:] == ["QUESTION 1: Who designed it", "WHOLE QUESTION (2): How old was the architect"]
    assert lines[1:3] == ["[Velm Tower]", "1. It was designed by Oda Brenk."]


def test_facts_without_a_sentence_are_complained_about_then_left_out() -> None:
    told = {"statement": "", "sentences": [1]}
    without = {"statement": "It is said to be tall.", "sentences": []}
    unseen = {"statement": "It is said to be old.", "sentences": [77]}
    with ScriptedLLM({"extract": [{"facts": [without, unseen, told]}] * 2}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [WINDOW], INQUIRY.original)
    assert extracts == (Extract("It was designed by Oda Brenk.", "It was designed by Oda Brenk."),)
    assert 'every fact needs "sentences", numbers from 1 to 2' in llm.requests[1].user


LONG = replace(
    WINDOW,
    text="\n".join(
        [
            "Oda Brenk had three sons. The first was Olm. He was born in 1890. The second was Tarn.",
            "| Work | Year |\n|---|---|\n| Mast | 1901 |\n| Quay | 1907 |",
            "[...]",
            f"3. The third was Velm. {'It rained. ' * 120}Nobody else was born.",
            "[...]",
            "(This corpus does not have the rows of: Filmography)",
        ]
    ),
)


@pytest.mark.parametrize(
    ("numbers", "value", "quotes"),
    [
        ([2], "", ["The first was Olm."]),
        ([4, 2], "", ["The first was Olm. He was born in 1890. The second was Tarn."]),  # one stretch is one quote
        ([7], "", ["| Quay | 1907 |"]),
        ([4, 9], "", ["The second was Tarn.", "3. The third was Velm."]),  # not over a gap
        ([9, 130], "", ["3. The third was Velm.", "Nobody else was born."]),  # nor over half the text
        ([1, 9], "Velm", ["3. The third was Velm."]),  # the value decides
        ([2, 9], "Olm and Velm", ["The first was Olm.", "3. The third was Velm."]),
        ([6, 9], "Mast 1901, Velm", ["| Mast | 1901 |", "3. The third was Velm."]),  # a row states it cell by cell
        ([4], "Tarn 1890", ["He was born in 1890. The second was Tarn."]),  # where the year of a day stands
    ],
)
def test_quotes_are_made_of_the_sentences_that_are_named(numbers: list[int], value: str, quotes: list[str]) -> None:
    with ScriptedLLM({"extract": [{"facts": [{"statement": "", "sentences": numbers, "value": value}]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [LONG], INQUIRY.original)
    assert [extract.quote for extract in extracts] == quotes
    assert "7. | Quay | 1907 |\n[...]\n9. 3. The third was Velm.\n10. It rained.\n" in llm.requests[0].user
    assert "\n[...]\n(This corpus does not have the rows of: Filmography)\n" in llm.requests[0].user


def test_of_two_quotes_with_the_value_the_one_that_says_more_is_kept() -> None:
    told = {"statement": "Olm, the first son of Oda Brenk, was born in 1890.", "sentences": [2, 9], "value": "was"}
    with ScriptedLLM({"extract": [{"facts": [told]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [LONG], INQUIRY.original)
    assert [extract.quote for extract in extracts] == ["The first was Olm."]


@pytest.mark.parametrize(
    ("value", "kept"), [("Oda Brenk (the architect)", "Oda Brenk"), ("Tomas Vey (the teacher)", "")]
)
def test_a_remark_in_brackets_is_no_part_of_a_value(value: str, kept: str) -> None:
    told = {"statement": "Oda Brenk designed it.", "sentences": [1], "value": value}
    with ScriptedLLM({"extract": [{"facts": [told]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [WINDOW], INQUIRY.original)
    assert [extract.value for extract in extracts] == [kept]


@pytest.mark.parametrize(
    ("statement", "numbers", "value", "quotes"),
    [
        ("Olm was the first and Velm the third.", [2, 9], "Velm", {"The first was Olm.", "3. The third was Velm."}),
        # No quote holds the value as it is written.
        ("Nobody was born before Olm Brenk.", [2, 130], "Olm Brenk", {"The first was Olm.", "Nobody else was born."}),
    ],
)
def test_the_rest_of_a_statement_is_quoted_beside_its_value(
    statement: str, numbers: list[int], value: str, quotes: set[str]
) -> None:
    told = {"statement": statement, "sentences": numbers, "value": value}
    with ScriptedLLM({"extract": [{"facts": [told]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [LONG], INQUIRY.original)
    assert {extract.quote for extract in extracts} == quotes


def test_a_value_may_stand_in_two_quotes_of_its_statement() -> None:
    told = {"statement": "Velm was no son of 1890.", "sentences": [3, 9], "value": "Velm, Olmsted"}
    with ScriptedLLM({"extract": [{"facts": [told, {**told, "value": "Velm, 1890"}]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [LONG], INQUIRY.original)
    assert [extract.value for extract in extracts] == ["", "Velm, 1890", "Velm, 1890"]


def test_a_statement_may_have_a_name_in_the_plural_and_the_name_of_its_article() -> None:
    window = replace(WINDOW, text='Oda Brenk won nine Karsa Lions for "" and "Mast".')
    said = "Velm Tower is one of the works for which Oda Brenk won a Karsa Lion."
    with ScriptedLLM({"extract": [{"facts": [{"statement": said, "sentences": [1], "value": ""}]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [window], INQUIRY.original)
    assert [extract.statement for extract in extracts] == [said]


def test_a_sentence_that_only_says_who_is_meant_is_no_quote() -> None:
    told = {"statement": "Nobody else was born after the three sons.", "sentences": [1, 9, 130]}
    with ScriptedLLM({"extract": [{"facts": [told]}]}) as llm:
        extracts = roles(llm).extractor.extract([TRIED], [LONG], INQUIRY.original)
    assert [extract.quote for extract in extracts] == ["Nobody else was born.", "Oda Brenk had three sons."]


def test_the_fingerprint_names_model_prompt_and_schema() -> None:
    one, two = ScriptedLLM({}, name="one"), ScriptedLLM({}, name="two")
    assert roles(one).extractor.fingerprint == roles(one).extractor.fingerprint
    assert roles(one).extractor.fingerprint != roles(two).extractor.fingerprint
    assert roles(one).extractor.fingerprint != roles(one, reply_tokens=99).extractor.fingerprint


AGE = Need("How old was Oda Brenk when she died?")
DESIGNED = {
    "statement": "Oda Brenk designed Velm Tower.",
    "quote": "It was designed by Oda Brenk.",
    "value": "Oda Brenk",
}


def served(*numbers: object) -> list[tuple[tuple[int, ...], str]]:
    """Which needs each extract serves, and its value, where the model numbers one fact each by `numbers`."""
    facts = [DESIGNED if number is None else {**DESIGNED, "need": number} for number in numbers]
    with ScriptedLLM({"extract": [{"facts": facts}]}) as llm:
        extracts = roles(llm).extractor.extract([AGE, TRIED], [WINDOW], INQUIRY.original)
    return [(extract.needs, extract.value) for extract in extracts]


def test_all_needs_of_a_hop_are_asked_of_a_document_at_once() -> None:
    with ScriptedLLM({"extract": [{"facts": [{**DESIGNED, "need": 2}]}]}) as llm:
        extracts = roles(llm).extractor.extract([AGE, TRIED], [WINDOW], INQUIRY.original)
    assert llm.requests[0].user.splitlines()[-3:] == [
        "QUESTION 1: How old was Oda Brenk when she died",
        "QUESTION 2: Who designed Velm Tower",
        "WHOLE QUESTION (3): How old was the architect",
    ]
    assert [extract.needs for extract in extracts] == [(1,)]


def test_a_fact_may_serve_two_needs_or_only_the_question_behind_them() -> None:
    assert served([1, 2]) == [((0,), "Oda Brenk"), ((1,), "Oda Brenk")]
    assert served(3) == [((), "Oda Brenk")]
    assert served([1, 3]) == [((0,), "Oda Brenk"), ((), "")]


def test_a_number_that_no_need_has_is_repaired_by_the_words_of_the_fact() -> None:
    assert all(served(number) == [((1,), "Oda Brenk")] for number in (None, 0, 7, "the tower"))


def test_each_extract_says_which_of_several_windows_it_is_from() -> None:
    other = replace(WINDOW, document_id="karsa", title="Karsa", text="Karsa lies on the river Mell.")
    there = {"statement": "Karsa lies on the Mell.", "quote": "Karsa lies on the river Mell.", "value": "", "need": 1}
    with ScriptedLLM({"extract": [{"facts": [there, {**DESIGNED, "need": 2}]}]}) as llm:
        extracts = roles(llm).extractor.extract([AGE, TRIED], [WINDOW, other], INQUIRY.original)
    assert [extract.window for extract in extracts] == [1, 0]
