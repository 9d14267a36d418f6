"""HTML files: a page is its text with its tables, and nothing around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.formats.reading import PAGE, only, written


def test_a_page_is_its_text_with_its_tables_and_nothing_around_it(tmp_path: Path) -> None:
    page = only(written(tmp_path / "a.html", PAGE))
    assert (page.title, page.url) == ("Velm Tower", "https://towers.example/velm")
    assert page.text == (
        "# Velm Tower\n\nBuilt in 1911, it is 10² m high.\n\n"
        "| Part | Height |\n|---|---|\n| Lower | 31 m |\n| Lower | 9 m |\n"
    )


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>From the title</title><p>x", "From the title"),
        ("<h1>From the <i>heading</i></h1><p>x", "From the heading"),
        ("<p>x", "a page"),
    ],
)
def test_a_page_has_a_title(tmp_path: Path, html: str, title: str) -> None:
    page = only(written(tmp_path / "a_page.htm", html))
    assert page.title == title
    assert page.text.count(title) == 1


def test_a_page_says_its_encoding(tmp_path: Path) -> None:
    html = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Miasto Łódź.'
    assert "Miasto Łódź." in only(written(tmp_path / "a.html", html.encode("iso-8859-2"))).text
