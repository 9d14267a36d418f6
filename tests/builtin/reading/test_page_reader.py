"""Pages read with the evidence reader, on invented articles."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.index_free_loop import UntouchedBudget, window
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.evidence_reader import (
    KINDS,
    AnswerSpan,
    ClaimVerdict,
    EvidenceReader,
    EvidenceReading,
    PassageText,
)
from iterative_rag.builtin.reading.page_reader import PASSAGES, EvidencePageReader
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.builtin.reading.shown_passages import PROSE, shown_passages, shown_text
from iterative_rag.embedders.hashing import HashingEmbedder
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
def reader() -> EvidencePageReader:
    return EvidencePageReader(EvidenceReader(threads=1))


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
    reader: EvidencePageReader, question: str, value: str, part: str
) -> None:
    findings = reader.read(read_query(question), seen("Vesla Harn", DREDGER))
    assert value in findings[0].value
    assert part in findings[0].quote
    assert findings[0].quote in DREDGER
    assert 0 < findings[0].score <= 1


def test_another_person_s_article_is_trusted_less(reader: EvidencePageReader) -> None:
    query = read_query("Who led the firm that employed Vesla Harn?")
    own = reader.read(query, seen("Vesla Harn", DREDGER))
    other = reader.read(query, seen("Dagny Moe", DREDGER.replace("Vesla Harn", "Dagny Moe")))
    assert own[0].score > max((finding.score for finding in other), default=0.0)


class ScriptedEvidence(EvidenceReader):
    """Offers one value of the passage, as sure as can be, for a kind of answer; judges it by `verdict`."""

    def __init__(self, value: str, kind: str, verdict: ClaimVerdict) -> None:
        super().__init__()
        self._value, self._verdict = value, verdict
        self._kinds = tuple(float(one == kind) for one in KINDS)

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        start = passages[0].text.index(self._value)
        span = AnswerSpan(start, start + len(self._value), self._value, 1.0)
        return [EvidenceReading(1.0, 0.0, 0.0, self._kinds, (span,))]

    def judge(self, need: str, value: str, passage: PassageText) -> ClaimVerdict:
        return self._verdict


SUPPORTED, CONTRADICTED = ClaimVerdict(0.97, 0.01, 0.02), ClaimVerdict(0.1, 0.89, 0.01)
MIXED = "Ole Brekk sold 412 barrels on 9 June 1866 in Sarn, a harbour."


@pytest.mark.parametrize(
    ("question", "kind", "value", "leaves"),
    [
        ("How many barrels were sold in Sarn?", "number", "412", True),
        ("How many barrels were sold in Sarn?", "number", "Ole Brekk", False),
        ("How many barrels were sold in Sarn?", "number", "9 June 1866", False),
        ("What is the number of barrels of Sarn?", "number", "Ole Brekk", False),
        ("Who sold barrels in Sarn?", "person", "Ole Brekk", True),
        ("Who sold barrels in Sarn?", "person", "412", False),
        ("Who sold barrels in Sarn?", "person", "9 June 1866", False),
        ("Which of them sold barrels in Sarn?", "person", "412", False),
        ("When did Ole Brekk sell barrels?", "date", "9 June 1866", True),
        ("When did Ole Brekk sell barrels?", "date", "Sarn", False),
        ("Where did Ole Brekk sell barrels?", "place", "Sarn", True),
        ("Where did Ole Brekk sell barrels?", "place", "412 barrels", False),
        ("What did Ole Brekk sell?", "phrase", ".", False),
    ],
)
def test_a_value_of_the_wrong_kind_never_leaves(question: str, kind: str, value: str, leaves: bool) -> None:
    scripted = EvidencePageReader(ScriptedEvidence(value, kind, SUPPORTED))
    found = scripted.read(read_query(question), seen("Sarn", MIXED))
    assert [finding.value for finding in found] == ([value] if leaves else [])


def test_a_value_that_its_passage_contradicts_is_at_most_a_guess() -> None:
    query = read_query("Where did Ole Brekk sell barrels?")
    for verdict, sure in ((SUPPORTED, True), (CONTRADICTED, False)):
        found = EvidencePageReader(ScriptedEvidence("Sarn", "place", verdict)).read(query, seen("Sarn", MIXED))
        assert (found[0].score >= 0.5) is sure


def test_a_page_without_prose_is_read_by_its_rows(reader: EvidencePageReader) -> None:
    rows = DREDGER.split("\n\nVesla Harn was")[0]
    findings = reader.read(read_query("Who was the husband of Vesla Harn?"), seen("Vesla Harn", rows))
    assert findings[0].value == "Ole Brekk"
    assert reader.read(read_query("Who was the husband of Vesla Harn?"), seen("Vesla Harn", "")) == []


def test_of_a_long_page_the_passages_that_speak_of_the_need_are_read(reader: EvidencePageReader) -> None:
    drains = "The drains of the old quarter were laid in brick and mended every spring by the parish. " * 8
    text = "\n\n".join([drains] * 3 * PASSAGES + [DREDGER.split("\n\n")[-1]] + [drains] * 3 * PASSAGES)
    findings = reader.read(read_query("Who won the prize at the fair of Orneby in 1909?"), seen("Vesla Harn", text))
    assert "Per Lund" in findings[0].value


def test_the_fingerprint_names_the_weights(reader: EvidencePageReader) -> None:
    assert EvidenceReader().name in reader.fingerprint


def test_the_default_backend_reads_with_the_network() -> None:
    extractor = BuiltinBackend(HashingEmbedder()).roles(UntouchedBudget()).extractor
    assert EvidenceReader().name in extractor.fingerprint
    extracts = extractor.extract(
        [Need("Who led the firm that employed Vesla Harn?")],
        [window("Vesla Harn", DREDGER)],
        "Who led the firm that employed Vesla Harn?",
    )
    assert "Knut Aamo" in extracts[0].value


# --- passages --------------------------------------------------------------------------------


def test_sections_and_tables_end_a_passage() -> None:
    text = "One is here. Two.\n## Part\nThree is here.\n| a | b |\n|---|---|\n| c | d |\nFive is here."
    found = shown_passages(seen("T", text))
    assert [passage.text for passage in found] == [
        "One is here. Two.",
        "Three is here.",
        "a: c | b: d",
        "Five is here.",
    ]
    assert [passage.section for passage in found] == ["", "Part", "Part", "Part"]


def test_an_infobox_is_shown_as_labels_and_values() -> None:
    box = shown_passages(seen("Vesla Harn", DREDGER))[0]
    assert box.text == "Born: 4 May 1871, Tarnby\nSpouse: Ole Brekk"


LINES = st.lists(
    st.sampled_from(["", "A word. " * 20, "B word. " * 60, "# Head", "| a | b |", "[...]", "  "]), max_size=30
)


@given(LINES)
def test_no_prose_is_lost_or_doubled_and_every_unit_has_its_place(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = shown_passages(seen("T", text))
    assert sum(passage.text.count("word") for passage in found) == text.count("word")
    for passage in found:
        for start, unit in zip(passage.starts, passage.units, strict=True):
            assert passage.text.startswith(shown_text(unit), start)
            assert passage.unit_of(start, start + 1) is unit
    assert all(len(passage.units) == 1 or len(passage.text) <= PROSE + len(passage.units) for passage in found)


def test_a_span_over_two_sentences_has_no_quote() -> None:
    (passage,) = shown_passages(seen("T", "First one. Second one here."))
    assert passage.unit_of(6, 15) is None
