"""The evidence reader with its packaged weights."""

import pytest

from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText

TITLE = "Orla Brennick"
BOTANIST = (
    "Orla Brennick (born 4 March 1871 in Castlereagh) was an Irish botanist. Her father was the brewer Niall Brennick, "
    "her mother Maud Tarrant. In 1899 she married Edwin Lorne. She died in Cork."
)
BAKER = "Karl Vessel ran a bakery in Trondheim, where his rye bread won a prize at the fair of 1911."
FILM = (
    "The Copper Meadow is a 1958 Danish drama film directed by Ingrid Halsted, with music by Poul Brandt. It was "
    "released on 3 October 1958."
)
FILLER = "The committee met again in spring and heard a long report on drains, fences and the price of oats. "
ODD = [
    "\x00",
    "a\x00b",
    "\ud800 half a surrogate pair",
    "東京は日本の首都です。",
    "مرحبا بالعالم",
    "😀" * 300,
    "| a | 12 |\n" * 200,
    "x" * 5000,
    "\u200b\ufeff",
    "?",
]


ANSWERS = 0.5  # the probability from which a passage counts as answering


def read(reader: EvidenceReader, need: str, title: str, passages: list[str], *, best: int = 1) -> list[EvidenceReading]:
    return reader.read(need, [PassageText(title, "", passage) for passage in passages], best=best)


@pytest.fixture(scope="module")
def reader() -> EvidenceReader:
    return EvidenceReader(threads=2)


@pytest.mark.parametrize(
    ("need", "title", "passage", "answer"),
    [
        ("When was Orla Brennick born?", TITLE, BOTANIST, "4 March 1871"),
        ("Where was Orla Brennick born?", TITLE, BOTANIST, "Castlereagh"),
        ("Who was the mother of Orla Brennick?", TITLE, BOTANIST, "Maud Tarrant"),
        ("Who was Orla Brennick's husband?", TITLE, BOTANIST, "Edwin Lorne"),
        ("Where did Orla Brennick die?", TITLE, BOTANIST, "Cork"),
        ("Who is the director of The Copper Meadow?", "The Copper Meadow", FILM, "Ingrid Halsted"),
        ("Who composed the music for The Copper Meadow?", "The Copper Meadow", FILM, "Poul Brandt"),
        ("In which town did Karl Vessel bake?", "Karl Vessel", BAKER, "Trondheim"),
    ],
)
def test_the_answer_is_read_and_the_passage_counts_as_answering(
    reader: EvidenceReader, need: str, title: str, passage: str, answer: str
) -> None:
    reading = read(reader, need, title, [passage])[0]
    span = reading.spans[0]
    assert span.text == answer == passage[span.start : span.end]
    assert reading.answerable >= ANSWERS
    assert 0 < span.probability <= 1


@pytest.mark.parametrize(
    ("need", "title", "passage"),
    [
        ("When was Orla Brennick born?", "Karl Vessel", BAKER),
        ("Who is the director of The Copper Meadow?", TITLE, BOTANIST),
        ("When did Karl Vessel die?", "Karl Vessel", BAKER),
        ("Who was the mother of Ingrid Halsted?", "The Copper Meadow", FILM),
        ("How many people live in Trondheim?", "Karl Vessel", BAKER),
    ],
)
def test_a_passage_that_does_not_answer_stays_below_the_threshold(
    reader: EvidenceReader, need: str, title: str, passage: str
) -> None:
    assert read(reader, need, title, [passage])[0].answerable < ANSWERS


def test_the_right_article_comes_first_among_several(reader: EvidenceReader) -> None:
    pairs = [("Karl Vessel", BAKER), ("The Copper Meadow", FILM), (TITLE, BOTANIST)]
    for place, need in enumerate(
        ["Who won a prize for rye bread?", "When was The Copper Meadow released?", "Whom did Orla Brennick marry?"]
    ):
        found = reader.read(need, [PassageText(title, "", text) for title, text in pairs])
        assert max(range(3), key=lambda n: found[n].answerable) == place


def test_yes_and_no(reader: EvidenceReader) -> None:
    right = read(reader, "Was Orla Brennick born in Castlereagh?", TITLE, [BOTANIST])[0]
    wrong = read(reader, "Was Orla Brennick born in Lisbon?", TITLE, [BOTANIST])[0]
    assert right.yes > right.no
    assert right.yes - right.no > wrong.yes - wrong.no
    off = read(reader, "Was Orla Brennick born in Castlereagh?", "Karl Vessel", [BAKER])[0]
    assert off.yes + off.no < right.yes + right.no


def test_a_reading_does_not_depend_on_its_company(reader: EvidenceReader) -> None:
    passages = [BOTANIST, FILLER * 7 + FILM, "", *ODD[1:5:3]]
    need = "When was the film released?"
    together = read(reader, need, TITLE, passages, best=3)
    assert together == [read(reader, need, TITLE, [passage], best=3)[0] for passage in passages]
    assert together == read(EvidenceReader(threads=1), need, TITLE, passages, best=3)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "😀 ",
        "Cafe\u0301 naïve — “été” ﬁne ",
        "中文和日本語 ",
        "\u200b\ufeff\u00a0",
        "İğne’de ǅ ",
        "a\x00b\ud800 ",
    ],
    ids=ascii,
)
def test_offsets_are_exact_in_any_text(reader: EvidenceReader, before: str) -> None:
    passage = f"{before}Zoë Ångström-Müller — {before}was born in Malmö."
    reading = read(reader, "Where was Zoë Ångström-Müller born?", "Zoë", [passage], best=4)[0]
    assert reading.spans[0].text == "Malmö"
    assert reading.spans[0].start == passage.index("Malmö")
    for span in reading.spans:
        assert passage[span.start : span.end] == span.text


def test_the_answer_is_found_wherever_it_stands_in_a_long_passage(reader: EvidenceReader) -> None:
    found = []
    for lines in (0, 7, 12, 20):
        passage = FILLER * lines + BOTANIST + " " + FILLER * 5
        reading = read(reader, "Who was the mother of Orla Brennick?", TITLE, [passage])[0]
        found.append(reading.spans[0].text == "Maud Tarrant")
    # Not every time: at the edge of a window, another person's name is sometimes chosen.
    assert sum(found) >= 3
    assert found[0]
    assert found[-1]


@pytest.mark.parametrize("passage", ODD, ids=range(len(ODD)))
def test_odd_texts_are_read_without_harm(reader: EvidenceReader, passage: str) -> None:
    reading = read(reader, "Who was the mother of Orla Brennick?", "", [passage], best=3)[0]
    assert 0 <= reading.answerable < ANSWERS
    for span in reading.spans:
        assert passage[span.start : span.end] == span.text
        assert 0 <= span.probability <= 1
