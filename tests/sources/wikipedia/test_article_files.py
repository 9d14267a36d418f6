"""Pages as files: what is written is what the reader of folders reads, whatever the title."""

from __future__ import annotations

from pathlib import Path

import pytest

from iterative_rag.errors import CorpusHeld
from iterative_rag.sources import front_matter
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.wikipedia.article_fetching import PageFolder
from iterative_rag.sources.wikipedia.page_names import PageName
from iterative_rag.types import Document

TEXT = "# The lamp\n\nIt was lit in 1857. Überall Licht – \U0001f4a1.\n"

TITLES = [
    "Gull Point",
    'The "Heron": a ship',
    "It's: a | pipe # and [more] {braces}",
    "true",
    "1857",
    "- dash",
    "AC/DC",
    "AC\\DC",
    "What lamp?",
    "*star*",
    "..",
    "../../etc/passwd",
    ".hidden",
    "CON",
    "nul.txt",
    "İstanbul lambası",
    "灯" * 80,
    "灯" * 79 + "塔",
    "100%",
    "Trailing dot.",
    "'quoted'",
    '"',
    "'",
    "\\",
]


def page(
    title: str, *, language: str = "en", redirects: tuple[str, ...] = (), text: str = TEXT
) -> tuple[front_matter.Fields, str]:
    fields: front_matter.Fields = {
        "title": title, "url": f"https://{language}.wikipedia.org/wiki/X", "revision": "7",
        "revised": "2025-01-02T03:04:05Z", "fetched": "2025-02-03T04:05:06Z",
        "licence": "Creative Commons Attribution-Share Alike 4.0", "language": language, "redirects": redirects,
    }  # fmt: skip
    return fields, text


def found_at(folder: PageFolder, title: str, language: str = "en") -> tuple[str, Path] | None:
    found = folder.find(PageName(title, language))
    return (found.title, found.place) if found else None


def documents(path: Path) -> dict[str, Document]:
    return {one.title: one for one in Folder(path).documents() if isinstance(one, Document)}


def test_a_page_is_readable_with_its_origin_above_the_text(tmp_path: Path) -> None:
    folder = PageFolder(tmp_path / "pages")
    with folder.opened():
        place = folder.store(*page("Gull Point", redirects=("Gull Light", 'The "Gull"')))
    assert place.name == "Gull_Point.md"
    assert place.read_text(encoding="utf-8") == (
        "---\n"
        "title: Gull Point\n"
        'url: "https://en.wikipedia.org/wiki/X"\n'
        'revision: "7"\n'
        'revised: "2025-01-02T03:04:05Z"\n'
        'fetched: "2025-02-03T04:05:06Z"\n'
        "licence: Creative Commons Attribution-Share Alike 4.0\n"
        "language: en\n"
        'redirects: ["Gull Light", "The \\"Gull\\""]\n'
        "---\n" + TEXT
    )


def test_every_title_survives_as_file_and_as_document(tmp_path: Path) -> None:
    folder = PageFolder(tmp_path / "pages")
    with folder.opened():
        places = [folder.store(*page(title)) for title in TITLES]
    assert len({str(place).casefold() for place in places}) == len(TITLES)
    assert {place.parent for place in places} == {tmp_path / "pages"}
    found = documents(tmp_path / "pages")
    assert set(found) == set(TITLES)
    for one in found.values():
        assert one.text == TEXT
        assert one.url == "https://en.wikipedia.org/wiki/X"
    again = PageFolder(tmp_path / "pages")
    with again.opened():
        for title, place in zip(TITLES, places, strict=True):
            assert found_at(again, title) == (title, place)


def test_titles_that_differ_in_case_or_language_alone_have_files_of_their_own(tmp_path: Path) -> None:
    pages = [page("Heron", text="one\n"), page("HERON", text="two\n"), page("Heron", language="de", text="drei\n")]
    folder = PageFolder(tmp_path)
    with folder.opened():
        places = [folder.store(*one) for one in pages]
    assert len({place.name.casefold() for place in places}) == 3
    assert [place.read_text(encoding="utf-8").splitlines()[-1] for place in places] == ["one", "two", "drei"]
    with folder.opened():
        assert found_at(folder, "Heron", "de") == ("Heron", places[2])
        assert folder.store(*page("Heron", language="de", text="vier\n")) == places[2]


def test_redirects_are_added_without_touching_the_text(tmp_path: Path) -> None:
    folder = PageFolder(tmp_path)
    with folder.opened():
        place = folder.store(*page("Gull Point", redirects=("Gull Light",)))
        before = documents(tmp_path)["Gull Point"]
        folder.add_names(place, ["Old light", "Gull Light"])
    again = PageFolder(tmp_path)
    with again.opened():
        assert found_at(again, "Old light") == found_at(again, "gull Light") == ("Gull Point", place)
        assert again.names() == [PageName("Gull Point")]
    assert documents(tmp_path)["Gull Point"] == before
    fields, _ = front_matter.split(place.read_text(encoding="utf-8"))
    assert fields["redirects"] == ("Gull Light", "Old light")
    assert fields["revision"] == "7"


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".fetching-123").write_text("half a pa")
    (tmp_path / "notes.md").write_text("# Notes\n\nMine.\n")
    folder = PageFolder(tmp_path)
    with folder.opened():
        assert folder.find(PageName("Notes")) is None
    assert not (tmp_path / ".fetching-123").exists()
    assert (tmp_path / "notes.md").exists()


def test_two_processes_do_not_fetch_into_one_folder(tmp_path: Path) -> None:
    with PageFolder(tmp_path).opened(), pytest.raises(CorpusHeld), PageFolder(tmp_path).opened():
        pass


@pytest.mark.parametrize(
    ("text", "title", "url", "body"),
    [
        ("---\ntitle: Plain\nurl: https://a.org/x\n---\nText.", "Plain", "https://a.org/x", "Text."),
        ('---\ntitle: "A \\"b\\" \\u00fc"\n---\n\nText.', 'A "b" ü', None, "\nText."),
        ("---\ntitle: 'It''s'\nurl: javascript:alert(1)\n---\nText.", "It's", None, "Text."),
        ('---\ntitle: "lone \\ud800 half"\n---\nText.', "lone ? half", None, "Text."),
        ("---\ntitle: [a, b]\nother:\n  - x\n---\n# Heading\nText.", "Heading", None, "# Heading\nText."),
        ("---\n---\nText.", "a", None, "Text."),
        ("--- no\ntitle: x\n---\nText.", "a", None, "--- no\ntitle: x\n---\nText."),
    ],
)
def test_front_matter_of_others(tmp_path: Path, text: str, title: str, url: str | None, body: str) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    (found,) = Folder(tmp_path).documents()
    assert isinstance(found, Document)
    assert (found.title, found.url, found.text) == (title, url, body)


def test_fields_come_back_as_they_were_written() -> None:
    fields = {
        "a": "plain",
        "b": 'x: "y" # z',
        "c": ("one", "two, three", "]"),
        "d": "null",
        "e": "[no, list]",
        "f": " ",
    }
    read, rest = front_matter.split(front_matter.join({**fields, "empty": ""}) + "rest")
    assert read == {**fields, "f": ""}
    assert rest == "rest"
