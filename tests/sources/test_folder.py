"""Folders of files: titles, stable ids, and everything a folder can hold that is no text."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources import open_source
from iterative_rag.sources.folder import Folder
from iterative_rag.types import Document


def documents(source: Folder) -> list[Document]:
    return [item for item in source.documents() if isinstance(item, Document)]


def skipped(source: Folder) -> dict[str, str]:
    return {Path(item.source).name: item.reason for item in source.documents() if isinstance(item, Skipped)}


def write(folder: Path, **files: str | bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / (name.replace("__", "."))
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_titles_come_from_front_matter_heading_or_file_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        A__md="---\nauthor: x\ntitle: 'From the front'\n---\n# Heading\nText.",
        B__md="Before.\n\n# The Heading #\n\nText.",
        New_York_City__txt="Only text.\n## Not a title",
        D__md="---\nno end of it\n# After the rule",
    )
    found = documents(Folder(tmp_path))
    assert [document.title for document in found] == [
        "From the front",
        "The Heading",
        "After the rule",
        "New York City",
    ]
    assert found[0].text == "# Heading\nText."
    assert found[0].source == str(tmp_path / "A.md")


def test_the_walk_is_sorted_and_ids_do_not_depend_on_the_place(tmp_path: Path) -> None:
    for root in (tmp_path / "one", tmp_path / "two"):
        write(root, b__txt="b", a__txt="a")
        write(root / "sub", c__md="c", ignored__png=b"PNG")
        write(root / ".git", d__txt="hidden")
    first, second = (documents(Folder(tmp_path / name)) for name in ("one", "two"))
    assert [document.title for document in first] == ["a", "b", "c"]
    assert [document.id for document in first] == [document.id for document in second]
    assert len({document.id for document in first}) == 3
    assert Folder(tmp_path / "one").total == 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        *(("Plzeň".encode(encoding), "Plzeň") for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        (b"\xfe\xff" + "Plzeň".encode("utf-16-be"), "Plzeň"),
        (b"\0\0\xfe\xff" + "Plzeň".encode("utf-32-be"), "Plzeň"),
        *(
            (text.encode(encoding), text)
            for encoding, text in (
                ("cp1252", "A café in the old town – “quoted”."),
                ("koi8-r", "Пивоварня в городе Пльзень была основана в 1842 году и известна своим пивом."),
                ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Plzeň leží na řece Radbuze."),
                ("shift_jis", "東京は日本の首都であり、世界でも有数の大都市である。"),
            )
        ),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str) -> None:
    write(tmp_path, a__txt=data)
    assert [document.text for document in documents(Folder(tmp_path))] == [text]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"---\ntitle: Only this\n---\n", "empty"),
        (b"text\0text", "NUL"),
        (b"\xff\xfea\0\0\0b\0", "NUL"),
        (b"\xff\xfea", "byte order mark"),
        (bytes(range(1, 256)), "neither UTF-8"),
        ("Miasto Łódź.".encode("cp1250"), "in doubt"),
        ("Král přenesl sídlo do Plzně; město má řeku.".encode("cp1250"), "in doubt"),
        ("Az őszi erdő.".encode("cp1250"), "in doubt"),
        ("Plzeň\n".encode() * 9 + "Plzeň".encode("cp1250"), "up to a point"),
    ],
)
def test_what_is_no_text_is_skipped_with_a_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    write(tmp_path, bad__txt=data, good__txt="Good.")
    assert reason in skipped(Folder(tmp_path))["bad.txt"]
    assert [document.title for document in documents(Folder(tmp_path))] == ["good"]


def test_links_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", password__txt="hunter2")
    folder = write(tmp_path / "corpus", real__txt="Real.")
    (folder / "file.txt").symlink_to(secret / "password.txt")
    (folder / "folder").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "nowhere.txt").symlink_to(folder / "missing.txt")
    (folder / "inside.txt").symlink_to(folder / "real.txt")
    (folder / "up.txt").symlink_to("../secret/password.txt")
    (folder / ".store").mkdir()
    (folder / ".store" / "4711").write_text("Kept by its hash.")
    (folder / "kept.txt").symlink_to(".store/4711")
    assert [document.text for document in documents(Folder(folder))] == ["Kept by its hash.", "Real."]
    assert set(skipped(Folder(folder))) == {
        "file.txt",
        "folder",
        "inside.txt",
        "loop",
        "self.txt",
        "nowhere.txt",
        "up.txt",
    }
    assert "out of the folder" in skipped(Folder(folder))["up.txt"]


@pytest.mark.parametrize("name", ["missing", "empty", "without_texts"])
def test_a_folder_without_texts_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "without_texts", a__png=b"PNG")
    with pytest.raises(CorpusError) as raised:
        list(open_source(tmp_path / name).documents())
    assert raised.value.hint
    assert name in str(raised.value)


def test_a_dump_in_a_folder_is_told_with_what_to_type(tmp_path: Path) -> None:
    """It was passed over in silence."""
    (tmp_path / "wiki.xml").write_text('<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"></mediawiki>')
    (tmp_path / "sitemap.xml").write_text("<urlset></urlset>")
    write(tmp_path, a__txt=b"A text.")
    told = skipped(Folder(tmp_path))
    assert list(told) == ["wiki.xml"]
    assert told["wiki.xml"] == f"It is indexed by itself: iterative-rag index {tmp_path / 'wiki.xml'}"


@contextmanager
def without_privileges() -> Iterator[None]:
    """The superuser may read everything; for a while it is nobody."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def test_an_unreadable_folder_is_an_error_and_an_unreadable_part_is_skipped() -> None:
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to others
        os.chmod(place, 0o755)
        folder = write(Path(place) / "corpus", a__txt="A.", b__txt="B.")
        write(folder / "sub", c__txt="C.")
        (folder / "a.txt").chmod(0)
        (folder / "sub").chmod(0)
        try:
            with without_privileges():
                assert set(skipped(Folder(folder))) == {"a.txt", "sub"}
            folder.chmod(0)
            with without_privileges(), pytest.raises(CorpusError, match="cannot be read"):
                list(Folder(folder).documents())
        finally:
            folder.chmod(0o755)
            (folder / "sub").chmod(0o755)


def test_pipes_and_odd_names_do_no_harm(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "fold.txt").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.txt")).write_text("Odd.")
    found = list(Folder(tmp_path).documents())
    odd, pipe = found
    assert isinstance(odd, Document)
    (odd.title + odd.source).encode()  # a name that is no text must not break what stores it
    assert isinstance(pipe, Skipped)
    assert "pipe" in pipe.reason
