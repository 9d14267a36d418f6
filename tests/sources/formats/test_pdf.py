"""PDF files keep their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import sample_files
from iterative_rag.sources.metadata import NOT_READ
from tests.sources.formats.reading import only, written


def test_a_pdf_keeps_its_pages(tmp_path: Path) -> None:
    pages = ("The tower was begun in 1909 and", "finished in 1911.", "", "It is – of course – high.")
    pdf = only(written(tmp_path / "the_tower.pdf", sample_files.pdf(*pages, info="Velm Tower")))
    assert pdf.title == "Velm Tower"
    assert pdf.text == "The tower was begun in 1909 and finished in 1911.\n\nIt is – of course – high."
    assert [pdf.page_at(pdf.text.index(word)) for word in ("begun", "finished", "high")] == [1, 2, 4]
    assert [pdf.page_at(start) for start in pdf.pages] == [1, 2, 3, 4]


NORTH = (
    "The north lighthouse was lit",
    "in 1871 and automated in",
    "1988. Its keeper was Orla",
    "Finnan until the end.",
)
SOUTH = (
    "The south lighthouse was lit",
    "in 1902 and demolished in",
    "1947. Its keeper was Petra",
    "Quill for thirty years.",
)
BOTH = f"{' '.join(NORTH)}\n\n{' '.join(SOUTH)}"


def lines(left: int, top: int, *texts: str, step: int = 14) -> list[str]:
    return [f"{left} {top - number * step} 11 {text}" for number, text in enumerate(texts)]


def mixed(*columns: list[str]) -> list[str]:
    return [line for row in zip(*columns, strict=True) for line in row]


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (mixed(lines(60, 712, *NORTH), lines(330, 712, *SOUTH)), BOTH),
        (mixed(lines(60, 712, *NORTH), lines(330, 709, *SOUTH)), BOTH),
        ([*lines(330, 712, *SOUTH), *lines(60, 712, *NORTH)], BOTH),
        ([*lines(60, 400, *SOUTH), *lines(60, 712, *NORTH)], BOTH),
        (
            [
                "60 760 16 Title",
                *mixed(lines(40, 712, *NORTH), lines(215, 712, *SOUTH), lines(390, 712, *NORTH)),
                "290 40 9 1",
            ],
            f"Title\n{BOTH}\n\n{' '.join(NORTH)}\n\n1",
        ),
        (
            mixed(lines(60, 700, "Site", "Velm"), lines(200, 700, "Crew", "7"), lines(300, 700, "Lit", "1871"))
            + mixed(lines(60, 672, "Karsa"), lines(200, 672, "12"), lines(300, 672, "1902")),
            "| Site | Crew | Lit |\n|---|---|---|\n| Velm | 7 | 1871 |\n| Karsa | 12 | 1902 |",
        ),
        (
            mixed(lines(60, 700, "Site", "Velm"), lines(200, 700, "Crew", "7"), lines(300, 700, "Lit", "1871"))
            + mixed(lines(60, 672, "Karsa"), lines(300, 672, "1902")),
            "| Site | Crew | Lit |\n|---|---|---|\n| Velm | 7 | 1871 |\n| Karsa |  | 1902 |",
        ),
        ([*lines(60, 700, "Name:", "Born:"), *lines(160, 700, "Orla", "1877")], "Name:  Orla\nBorn:  1877"),
        (["60 700 11 It has 1,640^{3} souls in 1951^{12}."], "It has 1,640[3] souls in 1951[12]."),
        (["60 700 11 Some 10^{6} m^{2} of H_{2}O on the 19^{th}."], "Some 10^6 m² of H2O on the 19th."),
        (["60 655 9 ^{3}Without the garrison."], "[3] Without the garrison."),
    ],
)  # fmt: skip
def test_a_page_is_read_as_a_reader_takes_it(tmp_path: Path, drawn: list[str], text: str) -> None:
    assert only(written(tmp_path / "a.pdf", sample_files.placed_pdf("\n".join(drawn)))).text == text


def test_running_heads_and_page_numbers_stay_out_of_the_sentences(tmp_path: Path) -> None:
    texts = ["The harbour master was born in", "Kirkay in 1877 and died in", "1950 on Velm island in", "his house."]
    heads = ("Annals of the Port", "Chapter 3")
    pages = [
        f"60 800 9 {heads[number % 2]}\n60 700 11 {text}\n290 40 9 Page {number + 1} of 4"
        for number, text in enumerate(texts)
    ]
    pdf = only(written(tmp_path / "a.pdf", sample_files.placed_pdf(*pages)))
    assert pdf.text == (
        "Annals of the Port\nThe harbour master was born in Kirkay in 1877 and died in 1950 on Velm island in "
        "his house."
    )
    assert dict(pdf.metadata)[NOT_READ] == "running heads and page numbers: 7"
    # What differs by more than the number of the page belongs to the text.
    chapters = [
        "\n".join([f"60 700 18 Chapter {number}", *lines(60, 650, f"In 190{number}.", "It ends.")]) for number in (1, 2)
    ]
    assert "Chapter 2" in only(written(tmp_path / "b.pdf", sample_files.placed_pdf(*chapters))).text


def test_the_values_of_a_form_are_read_and_comments_counted(tmp_path: Path) -> None:
    place = b"/Type /Annot /Subtype /Widget /Rect [120 %d 320 %d] /F 4"
    extra = {
        7: b"<< /FT /Tx /T (n) /V (Orla Finnan) " + place % (697, 713) + b" >>",
        8: b"<< /FT /Btn /T (m) /V /Yes /AS /Yes /AP << /N << /Yes 12 0 R /Off 12 0 R >> >> "
        + place % (667, 683)
        + b" >>",
        9: b"<< /FT /Ch /Ff 131072 /T (c) /Opt [(Velm) (Karsa)] /V (Karsa) " + place % (637, 653) + b" >>",
        10: b"<< /FT /Tx /T (p) /Ff 8192 /V (hunter2) " + place % (607, 623) + b" >>",
        11: b"<< /Type /Annot /Subtype /Text /Rect [300 600 320 620] /Contents (The name is misspelt.) >>",
        12: b"<< /Type /XObject /Subtype /Form /BBox [0 0 16 16] /Resources << /Font << /Z << /Type /Font /Subtype "
        b"/Type1 /BaseFont /ZapfDingbats >> >> >> /Length 28 >>\nstream\nBT /Z 12 Tf 2 3 Td (4) Tj ET\nendstream",
        13: b"<< /Fields [7 0 R 8 0 R 9 0 R 10 0 R] /DA (/F1 0 Tf 0 g) >>",
        6: b"<< >>",
    }
    data = sample_files.placed_pdf(
        "\n".join(lines(60, 700, "Name:", "Member:", "Town:", "Word:", step=30)), extra=extra,
        page="/Annots [7 0 R 8 0 R 9 0 R 10 0 R 11 0 R]", root="/AcroForm 13 0 R",
    )  # fmt: skip
    document = only(written(tmp_path / "a.pdf", data))
    assert document.text == "Name:  Orla Finnan\nMember:  ✔\nTown:  Karsa\nWord:  *******"
    assert dict(document.metadata)[NOT_READ] == "comments: 1"


def test_letters_from_right_to_left_stand_in_their_logical_order(tmp_path: Path) -> None:
    letters = {0x41: "ک", 0x42: "ا", 0x43: "لا", 0x44: "ی", 0x45: "م", 0x4C: "ﻻ"}
    letters |= {code: chr(code) for code in b"%50()PQ "}
    drawn = b"E %50 (PQ P) DCBA DLBA"  # as it is seen, from left to right
    codes = " ".join(f"<{code:02x}> <{letter.encode('utf-16-be').hex()}>" for code, letter in letters.items())
    ranges = "1 begincodespacerange <00> <FF> endcodespacerange"
    cmap = f"begincmap {ranges} {len(letters)} beginbfchar {codes} endbfchar endcmap"
    extra = {
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 0 /LastChar 255 /ToUnicode 7 0 R "
        b"/Widths [%b] >>" % b" ".join([b"600"] * 256),
        5: b"<< /Length %d >>\nstream\nBT /F1 20 Tf 50 700 Td <%b> Tj ET\nendstream" % (60, drawn.hex().encode()),
        7: b"<< /Length %d >>\nstream\n%b\nendstream" % (len(cmap), cmap.encode()),
    }
    assert only(written(tmp_path / "a.pdf", sample_files.pdf("", extra=extra))).text == "کالای کالای (PQ P) 50% م"
