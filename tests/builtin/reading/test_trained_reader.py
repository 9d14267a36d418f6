"""The fusion of the trained reader and the rules, on invented articles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.index_free_loop import UntouchedBudget, window
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.builtin.reading.reader_passages import SIZE, passages, sentence_at
from iterative_rag.builtin.reading.rule_reader import RuleReader
from iterative_rag.builtin.reading.span_reader import SpanReader
from iterative_rag.builtin.reading.trained_reader import CLOSE, TrainedReader
from iterative_rag.types import Need

DREDGER = """# Vesla Harn

| Vesla Harn | |
|---|---|
| Born | 4 May 1871, Tarnby |
| Spouse | Ole Brekk |

Vesla Harn was an engineer from Tarnby.

Having spent three winters on the mud, she came up with the bucket chain that still clears the harbours of Sarn.

The firm that took her on was led by Knut Aamo, whom she fell out with.

Her machines were shown at the fair of Orneby in 1909. The prize went to a rival, the miller Per Lund. """


@pytest.fixture(scope="module")
def reader() -> TrainedReader:
    return TrainedReader(RuleReader(BuiltinEncoder()), SpanReader())


def seen(title: str, text: str) -> UnitPage:
    return page(window(title, text))


@pytest.mark.parametrize(
    ("question", "value", "part"),
    [
        ("Who led the firm that employed Vesla Harn?", "Knut Aamo", "whom she fell out with"),
        ("What did Vesla Harn come up with?", "bucket chain", "three winters"),
        ("Who won the prize at the fair of Orneby in 1909?", "Per Lund", "a rival"),
        ("Who was the husband of Vesla Harn?", "Ole Brekk", "Spouse"),
        ("When was Vesla Harn born?", "4 May 1871", "Born"),
    ],
)
def test_prose_and_rows_are_read_and_the_sentence_is_the_quote(
    reader: TrainedReader, question: str, value: str, part: str
) -> None:
    findings = reader.read(read_query(question), seen("Vesla Harn", DREDGER))
    assert value in findings[0].value
    assert part in findings[0].quote
    assert findings[0].quote in DREDGER
    assert 0 < findings[0].score <= 1


def test_another_person_s_article_is_trusted_less(reader: TrainedReader) -> None:
    query = read_query("Who led the firm that employed Vesla Harn?")
    own = reader.read(query, seen("Vesla Harn", DREDGER))
    other = reader.read(query, seen("Dagny Moe", DREDGER.replace("Vesla Harn", "Dagny Moe")))
    assert own[0].score > max((finding.score for finding in other), default=0.0)


def test_a_value_of_another_kind_is_no_answer(reader: TrainedReader) -> None:
    findings = reader.read(read_query("In which year was the fair of Orneby?"), seen("Vesla Harn", DREDGER))
    assert findings
    assert all(any(character.isdigit() for character in finding.value) for finding in findings)


def test_a_page_without_prose_is_left_to_the_rules(reader: TrainedReader) -> None:
    rows = DREDGER.split("\n\nVesla Harn was")[0]
    findings = reader.read(read_query("Who was the husband of Vesla Harn?"), seen("Vesla Harn", rows))
    assert findings[0].value == "Ole Brekk"
    assert reader.read(read_query("Who was the husband of Vesla Harn?"), seen("Vesla Harn", "")) == []


def test_of_a_long_page_the_passages_that_speak_of_the_need_are_read(reader: TrainedReader) -> None:
    drains = "The drains of the old quarter were laid in brick and mended every spring by the parish. " * 8
    text = "\n\n".join([drains] * 3 * CLOSE + [DREDGER.split("\n\n")[-1]] + [drains] * 3 * CLOSE)
    findings = reader.read(read_query("Who won the prize at the fair of Orneby in 1909?"), seen("Vesla Harn", text))
    assert "Per Lund" in findings[0].value


def test_the_fingerprint_names_the_weights_and_the_rules(reader: TrainedReader) -> None:
    assert SpanReader().name in reader.fingerprint
    assert BuiltinEncoder().name in reader.fingerprint


def test_the_default_backend_reads_with_the_network() -> None:
    extractor = BuiltinBackend(BuiltinEncoder()).roles(UntouchedBudget()).extractor
    assert SpanReader().name in extractor.fingerprint
    extracts = extractor.extract(
        [Need("Who led the firm that employed Vesla Harn?")],
        [window("Vesla Harn", DREDGER)],
        "Who led the firm that employed Vesla Harn?",
    )
    assert "Knut Aamo" in extracts[0].value


# --- passages --------------------------------------------------------------------------------


def test_headings_gaps_and_tables_end_a_passage() -> None:
    text = "One.\n\nTwo.\n## Part\nThree.\n[...]\nFour.\n| a | b |\nFive."
    assert passages(seen("T", text)) == ["One.\n\nTwo.", "Three.", "Four.", "Five."]


LINES = st.lists(
    st.sampled_from(["", "A word. " * 20, "B word. " * 60, "# Head", "| a | b |", "[...]", "  "]), max_size=30
)


@given(LINES)
def test_no_prose_is_lost_or_doubled_and_every_passage_is_verbatim(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = passages(seen("T", text))
    assert all(passage in text and passage.strip() for passage in found)
    assert sum(passage.count("word") for passage in found) == text.count("word")
    assert all(len(passage) <= SIZE or "\n" not in passage for passage in found)


@pytest.mark.parametrize("start", [0, 3, 12, 30])
def test_the_sentence_of_a_place(start: int) -> None:
    passage = "First one. Second one here.\nFirst one. Last."
    assert passage[start] in sentence_at(passage, start)
    assert sentence_at(passage, start) in passage


def test_a_repeated_sentence_is_found_in_its_line() -> None:
    assert sentence_at("It is so. Always.\nIt is so. Never.", 28) == "Never."
