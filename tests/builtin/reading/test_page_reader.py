"""Pages read with the evidence reader, on invented articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hashing_embedder import HashingEmbedder
from fakes.index_free_loop import UntouchedBudget, window
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.reading.evidence_reader import (
    KINDS,
    AnswerSpan,
    EvidenceReader,
    EvidenceReading,
    PassageText,
)
from iterative_rag.builtin.reading.page_reader import EvidencePageReader
from iterative_rag.builtin.reading.page_units import PROSE, UnitPage, page, shown_passages, shown_text
from iterative_rag.types import Need
from tests.tables import table

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


def test_who_followed_somebody_is_no_predecessor(reader: EvidencePageReader) -> None:
    text = "Vesla Harn was mayor of Sarn from 1901 to 1909 and was succeeded as mayor by Per Lund, a miller."
    (followed,) = reader.read(read_query("Who was Vesla Harn succeeded by?"), seen("Vesla Harn", text))
    assert followed.value == "Per Lund"
    before = reader.read(read_query("Who was the predecessor of Vesla Harn?"), seen("Vesla Harn", text))
    assert "Per Lund" not in {finding.value for finding in before}


@pytest.mark.parametrize(("question", "value", "part"), table(__file__, "quotes"))
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
        self.passages: list[PassageText] = []

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        self.passages += passages
        nothing = EvidenceReading(0.0, 0.0, 0.0, self._kinds, ())
        starts = [passage.text.find(self._value) for passage in passages]
        spans = [AnswerSpan(at, at + len(self._value), self._value, 1.0) for at in starts]
        return [EvidenceReading(1.0, 0.0, 0.0, self._kinds, (span,)) if span.start >= 0 else nothing for span in spans]


MIXED = "Ole Brekk sold 412 barrels on 9 June 1866 in Sarn, a harbour."


@pytest.mark.parametrize(("question", "kind", "value", "leaves"), table(__file__, "kinds"))
def test_a_value_of_the_wrong_kind_never_leaves(question: str, kind: str, value: str, leaves: bool) -> None:
    scripted = EvidencePageReader(ScriptedEvidence(value, kind))
    found = scripted.read(read_query(question), seen("Sarn", MIXED))
    assert [finding.value for finding in found] == ([value] if leaves else [])


def test_a_number_of_something_else_is_trusted_less() -> None:
    scripted = EvidencePageReader(ScriptedEvidence("412", "number"))
    counted, other = (
        scripted.read(read_query(f"How many {what} did Ole Brekk sell?"), seen("Sarn", MIXED))[0].score
        for what in ("barrels", "horses")
    )
    assert other < 0.6 * counted


FAIRS = "".join(f"## Year {year}\nVesla Harn came to the fair of {year}.\n" for year in range(1909, 1914))


@pytest.mark.parametrize(
    ("title", "born", "read"),
    [("Vesla Harn", "## Youth\nVesla Harn was born in Tarnby.\n", 1), ("Vesla Harn", "", 5), ("Fairs", "", 2)],
)
def test_passages_are_read_only_while_they_may_bring_a_better_value(title: str, born: str, read: int) -> None:
    scripted = ScriptedEvidence("Tarnby", "place")
    found = EvidencePageReader(scripted).read(read_query("Where was Vesla Harn born?"), seen(title, FAIRS + born))
    assert [finding.value for finding in found] == (["Tarnby"] if born else [])
    assert len(scripted.passages) == read


class LastWords(ScriptedEvidence):
    """Offers the last word of every passage, rather surely."""

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        self._value = passages[0].text.rstrip(".").rsplit(" ", 1)[-1]
        return [replace(reading, answerable=0.9) for reading in super().read(need, passages, best=best)]


@pytest.mark.parametrize(
    ("second", "between", "less"), [("Sarn", "[...]", True), ("Sarn", "", False), ("Orm", "[...]", False)]
)
def test_two_values_of_a_page_that_is_shown_in_part_are_trusted_less(second: str, between: str, less: bool) -> None:
    text = f"## Youth\nVesla Harn was born in Orm.\n{between}\n## Later\nVesla Harn was born in {second}."
    scripted = EvidencePageReader(LastWords("", "place"))
    found = scripted.read(read_query("Where was Vesla Harn born?"), seen("Notes", text))
    assert (found[0].score < 0.7) == less


LEE = "Ann Lee (3 May 1941 – 9 June 1999) was a Norwegian novelist and poet. She lived in Orm. She won the Harp Prize."


@pytest.mark.parametrize(("question", "value"), table(__file__, "decided"))
def test_a_page_decides_what_is_said_of_its_subject(reader: EvidencePageReader, question: str, value: str) -> None:
    found = reader.read(read_query(question), seen("Ann Lee", LEE))
    assert found[0].value == value
    assert found[0].quote in LEE


class Decided(ScriptedEvidence):
    """Says yes or no to every passage, as surely as can be."""

    def __init__(self, *, yes: bool) -> None:
        super().__init__("Ann", "person")
        self._yes = yes

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        yes, no = float(self._yes), float(not self._yes)
        return [replace(reading, yes=yes, no=no) for reading in super().read(need, passages, best=best)]


@pytest.mark.parametrize(
    ("question", "said", "yes", "sure"),
    [
        ("Did Ann Lee fly across the sea?", "was a poet", True, False),
        ("Did Ann Lee fly across the sea?", "flew to Orm", True, True),
        ("Was Ann Lee an author?", "was a novel writer", True, True),  # a word alike
        ("Is Ann Lee from Norway?", "is a Norwegian poet", True, True),
        ("Was Ann Lee a granddaughter of Bo Lee?", "had Bo Lee for a grandfather", True, True),
        ("Was Ann Lee an engineer?", "was a poet", False, True),
        ("Is Ann Lee Danish?", "is a Norwegian poet", False, True),
        ("Was Ann Lee ever divorced?", "was a poet", False, None),
        ("Did Ann Lee teach in Orm?", "was a poet", False, None),
        ("Did Ann Lee teach in Orm in 1950?", "only wrote in 1950", False, True),
    ],
)
def test_a_decision_needs_a_word_of_what_is_asked(question: str, said: str, yes: bool, sure: bool | None) -> None:
    found = EvidencePageReader(Decided(yes=yes)).read(read_query(question), seen("Ann Lee", f"Ann Lee {said}."))
    expected = [] if sure is None else [("yes" if yes else "no", sure)]
    assert [(finding.value, finding.score > 0.7) for finding in found] == expected


@pytest.mark.parametrize(
    ("denial", "quoted"),
    [
        ("Lee never married.", True),
        ("A marriage of Lee was not allowed.", True),
        ("Lee never flew.", False),
        ("No other poet of Orm was married to Lee.", False),
    ],
)
def test_a_no_quotes_the_sentence_of_a_passage_that_denies_what_is_asked(denial: str, quoted: bool) -> None:
    text = f"Ann Lee was a poet. She lived in Orm. {denial} She died in 1999."
    found = EvidencePageReader(Decided(yes=False)).read(read_query("Did Ann Lee ever marry?"), seen("Ann Lee", text))
    assert [finding.quote for finding in found] == [denial] * quoted


@pytest.mark.parametrize(
    ("title", "text", "sure"),
    [
        ("Orm Valley Railway", "It is 96 kilometres long.", False),
        ("Orm Valley Railway", "It follows the Orm, which is 96 kilometres long.", True),
        ("River Orm", "It is 96 kilometres long.", True),
        ("Orm, Norway", "It is 96 kilometres long.", True),
    ],
)
def test_what_has_a_longer_name_is_not_what_is_measured(title: str, text: str, sure: bool) -> None:
    found = EvidencePageReader(ScriptedEvidence("96 kilometres", "number")).read(
        read_query("How long is the Orm?"), seen(title, text)
    )
    assert (found[0].value, found[0].score > 0.7) == ("96 kilometres", sure)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Ann Lee](lee.md) designed the [Elm Bridge](elm.md).", "Ann Lee designed the Elm Bridge."),
        ("| Work | [Elm Bridge](elm.md) |", "Work: Elm Bridge"),
    ],
)
def test_the_targets_of_links_are_not_read(text: str, shown: str) -> None:
    (passage,) = shown_passages(seen("Ann Lee", f"# Ann Lee\n\n{text}\n"))
    assert (passage.text, passage.units[0].text) == (shown, text)


def test_a_row_about_what_has_a_longer_name_measures_something_else(reader: EvidencePageReader) -> None:
    rows = "| Bridge | River | Length |\n|---|---|---|\n| Orm Footbridge | Orm | 88 m |\n| Stone Bridge | Tell | 41 m |"
    page = seen("Bridges of Sarn", f"# Bridges of Sarn\n\n{rows}\n")
    assert [found.value for found in reader.read(read_query("How long is the Orm Footbridge?"), page)] == ["88 m"]
    assert "88 m" not in [found.value for found in reader.read(read_query("How long is the Orm?"), page)]


@pytest.mark.parametrize(
    "told", ["It is a misconception that", "It was falsely reported that", "People mistakenly believed that"]
)
def test_what_is_called_a_wrong_belief_is_not_so(reader: EvidencePageReader, told: str) -> None:
    text = f"Ann Lee (3 May 1941 – 9 June 1999) was a novelist. {told} Ann Lee won the Harp Prize."
    found = reader.read(read_query("Did Ann Lee win the Harp Prize?"), seen("Ann Lee", text))
    assert found[0].value == "no"
    asked = reader.read(read_query("Is it a misconception that Ann Lee won the Harp Prize?"), seen("Ann Lee", text))
    assert all(finding.value == "yes" for finding in asked[:1] if "misconception" in told)


@pytest.mark.parametrize(
    "text",
    [
        "The mayor of Sarn is not Bo Lind.",
        "The mayor of Sarn is Ada Orr rather than Bo Lind.",
        "The council of Sarn chose a mayor, not the Bo Lind of the story.",
        "Many wrongly believe that the mayor of Sarn is Bo Lind.",
        "According to a hoax, the mayor of Sarn was Bo Lind.",
    ],
)
def test_a_value_that_is_denied_is_not_read(text: str) -> None:
    scripted = EvidencePageReader(ScriptedEvidence("Bo Lind", "person"))
    query = read_query("Who is the mayor of Sarn?")
    assert not scripted.read(query, seen("Sarn", text))
    assert scripted.read(query, seen("Sarn", "The mayor of Sarn is not only a baker: she is Bo Lind."))


@pytest.mark.parametrize(("question", "kind", "span", "value"), table(__file__, "trimmed"))
def test_a_span_is_trimmed_to_the_value_that_is_asked_for(question: str, kind: str, span: str, value: str) -> None:
    text = f"The mast of Sarn and what is told of it: {span}, Tellby."
    found = EvidencePageReader(ScriptedEvidence(span, kind)).read(read_query(question), seen("Mast of Sarn", text))
    assert [finding.value for finding in found] == [value]


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
