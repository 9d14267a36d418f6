"""Mails: the text part with its headers; attachments are named."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from iterative_rag.sources.metadata import NOT_READ
from iterative_rag.types.documents import FILE_DATE_KEY
from tests.sources.formats.reading import only, reasons, written


def mail(**headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    return message


def test_the_text_part_is_read_with_its_headers_and_attachments_are_named(tmp_path: Path) -> None:
    message = mail(
        Subject="Brücke über die Velm", From="Edda Holm <edda@holm.example>", To="a@b.example, c@d.example",
        Date="Thu, 02 May 2024 09:30:00 +0200",
    )  # fmt: skip
    message.set_content("The bridge was begun in 1841.\nIt is of granite — all of it.\n")
    message.add_alternative("<p>Another text.</p>", subtype="html")
    message.add_attachment(b"MZ\0", maintype="application", subtype="octet-stream", filename="plan.exe")
    document = only(written(tmp_path / "1.eml", message.as_bytes()))
    assert document.title == "Brücke über die Velm"
    assert document.text == (
        "# Brücke über die Velm\n\nFrom: Edda Holm <edda@holm.example>\nTo: a@b.example, c@d.example\n"
        "Date: 2024-05-02\nAttached, not read: plan.exe\n\n"
        "The bridge was begun in 1841.\nIt is of granite — all of it."
    )
    assert dict(document.metadata) | {FILE_DATE_KEY: ""} == {
        "from": "Edda Holm <edda@holm.example>", "to": "a@b.example, c@d.example", "date": "2024-05-02",
        "attachment": "plan.exe", NOT_READ: "attached files: 1", FILE_DATE_KEY: "",
    }  # fmt: skip


def test_what_is_no_mail_or_damaged_is_told(tmp_path: Path) -> None:
    assert reasons(written(tmp_path / "no.eml", b"\x89PNG\r\n\x1a\n" * 50)) == ["It is not a mail: it has no header."]
    strange = b"Subject: Half\nContent-Type: text/plain; charset=klingon-8\n\nText.\n"
    assert only(written(tmp_path / "strange.eml", strange)).text == "# Half\n\nText."
    half = (
        b"Subject: Half\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nThe first words"
    )
    assert only(written(tmp_path / "half.eml", half)).text == "# Half\n\nThe first words"
    wrong = b"Subject: Named\nDate: soon\nFrom: =?utf-8?b?broken\n\nText.\n"
    assert only(written(tmp_path / "wrong.eml", wrong)).title == "Named"


def parted(kind: str, *parts: str) -> bytes:
    body = "".join(f"--b\n{part}\n" for part in parts)
    return f"Subject: All\nContent-Type: multipart/{kind}; boundary=b\n\n{body}--b--\n".encode()


PLAIN, PAGE = "Content-Type: text/plain; charset=utf-8\n\n", "Content-Type: text/html; charset=utf-8\n\n"
TABLE = "<p>It moves to 9 June.</p><table><tr><th>Site</th><th>Crew</th></tr><tr><td>Velm</td><td>7</td></tr></table>"
MARKDOWN = "It moves to 9 June.\n\n| Site | Crew |\n|---|---|\n| Velm | 7 |"
EVENT = (
    "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Europe/Rome:20240609T100000\n"
    "SUMMARY:Launch\\, at\n  last\nLOCATION:Velm\nEND:VEVENT\nEND:VCALENDAR\n"
)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (parted("alternative", PLAIN + "\n", PAGE + TABLE), MARKDOWN),
        (parted("alternative", PLAIN + "Please view this in HTML.\n", PAGE + TABLE), MARKDOWN),
        (parted("alternative", PLAIN + "It moves.\n", PAGE + "<p>It moves.</p>"), "It moves."),
        (parted("mixed", PLAIN + "One.\n", PLAIN + "Two.\n", PAGE + "<p>Three.</p>"), "One.\n\nTwo.\n\nThree."),
        (
            parted("digest", "\nFrom: a@b.example\nSubject: One\n\nIt opens.\n", "\nSubject: Two\n\nIt closes.\n"),
            "## One\n\nFrom: a@b.example\n\nIt opens.\n\n## Two\n\nIt closes.",
        ),
        (
            parted("mixed", PLAIN + "See below.\n", "Content-Type: message/rfc822\n\nSubject: Old\n\nIt was 1843.\n"),
            "See below.\n\n## Old\n\nIt was 1843.",
        ),
        (parted("mixed", "Content-Type: text/csv; name=a.csv\nContent-Disposition: attachment\n\nSite,Crew\nVelm,7\n"),
         "| Site | Crew |\n|---|---|\n| Velm | 7 |"),
        ("Subject: All\nContent-Type: text/plain; charset=us-ascii\n\nDie Küche schließt um 22 Uhr.".encode("cp1252"),
         "Die Küche schließt um 22 Uhr."),
        ("Subject: All\nContent-Type: text/plain; charset=utf-8\n\nZoë".encode("cp1252"), "Zoë"),
        ("Subject: All\nContent-Type: text/plain; charset=iso-2022-jp\n\n橋".encode("iso-2022-jp"), "橋"),
    ],
    ids=["empty plain text", "stub", "same text", "three parts", "digest", "forwarded", "table attached",
         "another charset", "too short to detect", "seven bits"],
)  # fmt: skip
def test_every_text_of_a_mail_is_read_once(tmp_path: Path, data: bytes, text: str) -> None:
    assert only(written(tmp_path / "a.eml", data)).text == f"# All\n\n{text}"
