"""What users call a page: titles and all kinds of URLs."""

from __future__ import annotations

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.sources.wikipedia.page_names import PageName, page_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Gull Point", PageName("Gull Point")),
        ("  Gull_Point ", PageName("Gull Point")),
        ("Gull Point#Early years", PageName("Gull Point")),
        ("https://en.wikipedia.org/wiki/Gull_Point", PageName("Gull Point")),
        ("http://en.m.wikipedia.org/wiki/Gull_Point", PageName("Gull Point")),
        ("https://www.wikipedia.org/wiki/Gull_Point", PageName("Gull Point")),
        ("HTTPS://EN.Wikipedia.ORG/wiki/Gull_Point", PageName("Gull Point")),
        ("//en.wikipedia.org/wiki/Gull_Point", PageName("Gull Point")),
        ("en.wikipedia.org/wiki/Gull_Point", PageName("Gull Point")),
        ("/wiki/Gull_Point", PageName("Gull Point")),
        ("https://en.wikipedia.org/wiki/Gull_Point?action=history", PageName("Gull Point")),
        ("https://en.wikipedia.org/w/index.php?title=Gull_Point&oldid=77", PageName("Gull Point")),
        ("https://de.wikipedia.org/wiki/M%C3%B6wenkap", PageName("Möwenkap", "de")),
        ("https://simple.m.wikipedia.org/wiki/Gull_Point", PageName("Gull Point", "simple")),
        (
            "https://en.wikipedia.org/wiki/AC%2FDC_(lamp)#The_first_years",
            PageName("AC/DC (lamp)"),
        ),
        ("https://en.wikipedia.org/wiki/What_lamp?", PageName("What lamp?")),
        ("https://en.wikipedia.org/wiki/What_lamp%3F", PageName("What lamp?")),
        ("https://en.wikipedia.org/wiki/Mo\u0308we", PageName("Möwe")),
        ("Lamps: a history", PageName("Lamps: a history")),
    ],
)
def test_titles_and_urls(text: str, name: PageName) -> None:
    assert page_name(text) == name


def test_a_bare_title_is_of_the_language_asked_for() -> None:
    assert page_name("Möwenkap", language="de") == PageName("Möwenkap", "de")
    assert page_name("https://fr.wikipedia.org/wiki/Cap", language="de").language == "fr"


def test_spellings_that_every_wiki_takes_for_one_have_one_key() -> None:
    assert page_name("gull Point").key == page_name("Gull_Point").key != page_name("Gull point").key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#section",
        "https://example.org/wiki/Gull_Point",
        "https://en.wikipedia.org.example.org/wiki/Gull_Point",
        "https://example.org/en.wikipedia.org/wiki/X",
        "https://en.wikipedia.org/",
        "https://en.wikipedia.org/wiki/",
        "https://en.wikipedia.org@127.0.0.1/wiki/X",
        "https://x/../y.wikipedia.org/wiki/X",
        "https://[::1/wiki/X",
        "ftp://files/wiki/X",
    ],
)
def test_what_is_no_page_of_wikipedia(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        page_name(text)
    assert raised.value.hint
