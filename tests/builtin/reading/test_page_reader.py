"""Pages read with the evidence reader, on invented articles."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.index_free_loop import UntouchedBudget, window
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.answer_form import trimmed
from iterative_rag.builtin.reading.evidence_reader import (
    KINDS,
    AnswerSpan,
    EvidenceReader,
    EvidenceReading,
    PassageText,
)
from iterative_rag.builtin.reading.page_reader import PASSAGES, SHORT, EvidencePageReader
from iterative_rag.builtin.reading.page_units import PROSE, UnitPage, likeliest, page, shown_passages, shown_text
from iterative_rag.index.embedders.hashing import HashingEmbedder
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


def test_of_the_items_of_a_cell_the_one_of_the_year_is_given(reader: EvidencePageReader) -> None:
    row = "| Awards of Harp | Letters (1954), Peace (1962) |\n"
    brenk = seen("Oda Brenk", f"# Oda Brenk\n\n| Oda Brenk | |\n|---|---|\n{row}")
    assert reader.read(read_query("What award did Oda Brenk win in 1962?"), brenk)[0].value == "Peace"


def test_half_a_bracket_is_cut_off() -> None:
    assert trimmed(read_query("Where is Oda Brenk buried?"), "Karsa (state") == "Karsa"


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
    """Offers one value of the passage, as sure as can be, for a kind of answer."""

    def __init__(self, value: str, kind: str) -> None:
        super().__init__()
        self._value = value
        self._kinds = tuple(float(one == kind) for one in KINDS)

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        nothing = EvidenceReading(0.0, 0.0, 0.0, self._kinds, ())
        starts = [passage.text.find(self._value) for passage in passages]
        spans = [AnswerSpan(at, at + len(self._value), self._value, 1.0) for at in starts]
        return [EvidenceReading(1.0, 0.0, 0.0, self._kinds, (span,)) if span.start >= 0 else nothing for span in spans]


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
    scripted = EvidencePageReader(ScriptedEvidence(value, kind))
    found = scripted.read(read_query(question), seen("Sarn", MIXED))
    assert [finding.value for finding in found] == ([value] if leaves else [])


RIVERS = """# Rivers of Karsa

Karsa has four main islands. The deputy mayor of Karsa is Ole Brekk. The mayor of Sarn is Per Lund.

| No. | River | Length (km) | Mouth | Countries |
|---|---|---|---|---|
| 1 | Orr | 540 | Grey Sea | Velm |
| 2 | Sorn | 96 | Ulla | Brell |

The coast of Karsa was charted in 1866.
"""


@pytest.mark.parametrize(
    ("question", "kind", "value", "leaves"),
    [
        ("Which countries border on Karsa?", "place", "Ulla", False),
        ("Which countries border on Karsa?", "place", "Brell", True),
        ("How many people live in Karsa?", "number", "540", False),
        ("How many islands has Karsa?", "number", "four", True),
        ("Which river of Karsa was charted?", "place", "Grey Sea", False),
        ("What was the second thing charted in Karsa?", "name", "Grey Sea", False),
        ("What was the second thing charted in Karsa?", "name", "Ulla", True),
        ("Who is the mayor of Karsa?", "person", "Ole Brekk", False),
        ("Who is the deputy mayor of Karsa?", "person", "Ole Brekk", True),
        ("Who is the deputy mayor of Karsa?", "person", "Per Lund", False),
        ("When was the coast of Karsa charted?", "date", "1866", True),
        ("Which main islands has Karsa?", "name", "main islands", False),
    ],
)
def test_a_value_whose_place_speaks_of_another_kind_never_leaves(
    question: str, kind: str, value: str, leaves: bool
) -> None:
    scripted = EvidencePageReader(ScriptedEvidence(value, kind))
    found = scripted.read(read_query(question), seen("Rivers of Karsa", RIVERS))
    assert any(value in finding.value for finding in found) is leaves


LIVES = """# Ann Holm

| Ann Holm | |
|---|---|
| Died | Tellby |
| Successor | Per Lund |

Ann Holm came to rule through the murder of Tom Ruud. Her other son played hockey for Karsa at the fair of Orneby.
"""


@pytest.mark.parametrize(
    ("question", "kind", "value", "leaves"),
    [
        ("Where did Ann Holm die?", "place", "Tellby", True),
        ("Where did Karl Brekk, husband of Ann Holm, die?", "place", "Tellby", True),
        ("Who was the successor of Ann Holm?", "person", "Per Lund", True),
    ],
)
def test_a_value_of_another_subject_never_leaves(question: str, kind: str, value: str, leaves: bool) -> None:
    scripted = EvidencePageReader(ScriptedEvidence(value, kind))
    found = scripted.read(read_query(question), seen("Ann Holm", LIVES))
    assert (value in [finding.value for finding in found]) is leaves


def test_the_words_of_a_claim_in_a_sentence_on_somebody_else_are_no_yes(reader: EvidencePageReader) -> None:
    found = reader.read(read_query("Did Ann Holm play football for Karsa?"), seen("Ann Holm", LIVES))
    assert all(finding.value != "yes" for finding in found)


LEE = "Ann Lee (3 May 1941 – 9 June 1999) was a Norwegian novelist and poet. She lived in Orm. She won the Harp Prize."


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Is Ann Lee a writer?", "yes"),
        ("Is Ann Lee Norwegian?", "yes"),
        ("Is Ann Lee a Norwegian novelist?", "yes"),
        ("Did Ann Lee win the Harp Prize?", "yes"),
        ("Was Ann Lee alive in 2005?", "no"),
        ("Is Ann Lee an American novelist?", "no"),
        ("Is Ann Lee a film director?", "no"),
    ],
)
def test_a_page_decides_what_is_said_of_its_subject(reader: EvidencePageReader, question: str, value: str) -> None:
    found = reader.read(read_query(question), seen("Ann Lee", LEE))
    assert found[0].value == value
    assert found[0].quote in LEE


def test_a_short_page_is_read_whole() -> None:
    parts = [f"## Part {n}\n\nThe harbour of Sarn has quay number {n}." for n in range(6)]
    parts.append("## End\n\nHe was killed by a heavy wagon in the rain.")
    passages = shown_passages(seen("Ole Brekk", "\n\n".join(parts)))
    query = read_query("Which harbour vehicle ran over Ole Brekk?")
    assert passages[-1] not in likeliest(query, passages, PASSAGES)
    assert likeliest(query, passages, PASSAGES, SHORT) == list(passages)


@pytest.mark.parametrize(
    ("question", "kind", "span", "value"),
    [
        ("How tall is the mast of Sarn?", "number", "661 ft (201 m) tall", "661 ft"),
        ("How tall is the mast of Sarn in metres?", "number", "661 ft (201 m) tall", "201 m"),
        ("How many people saw the mast of Sarn?", "number", "about 3,000 people", "about 3,000 people"),
        ("Who climbed the mast of Sarn?", "person", "the German carpenter Tom Ruud", "Tom Ruud"),
        ("Who climbed the mast of Sarn?", "person", "Tom Ruud (married 1901)", "Tom Ruud"),
        ("Who climbed the mast of Sarn?", "person", "Tom Ruud, from Tellby, Orm", "Tom Ruud"),
        ("Who climbed the mast of Sarn?", "person", "Mr. Tom Ruud, ship carpenter", "Tom Ruud"),
        ("When was the mast of Sarn built?", "date", "in May 1866", "May 1866"),
        ("In which city is the mast of Sarn?", "place", "City Theatre, Orneby", "Orneby"),
        ("In which town is the mast of Sarn?", "place", "City Theatre", "Tellby"),
        ("In which country is the mast of Sarn?", "place", "Orneby, Velm", "Velm"),
        ("In which country is the mast of Sarn?", "place", "Orneby region of Velm", "Velm"),
    ],
)
def test_a_span_is_trimmed_to_the_value_that_is_asked_for(question: str, kind: str, span: str, value: str) -> None:
    text = f"The mast of Sarn and what is told of it: {span}, Tellby."
    found = EvidencePageReader(ScriptedEvidence(span, kind)).read(read_query(question), seen("Mast of Sarn", text))
    assert [finding.value for finding in found] == [value]


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
