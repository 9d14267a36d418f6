"""Pages as files: what is written is what the reader of folders reads, whatever the title."""

from __future__ import annotations

from pathlib import Path

import pytest

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
