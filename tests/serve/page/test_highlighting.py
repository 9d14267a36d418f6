"""A quote is marked in the rendered article: exactly its characters, wherever they stand."""

from __future__ import annotations

import re

import pytest

from iterative_rag.serve.page.articles import article_view, marked_markdown
from iterative_rag.text.text_blocks import unwrapped
from iterative_rag.types import Document
from tests.serve.page.marked_text import HtmlText, squeezed

ARTICLE = """# Tower

| Tower | |
|---|---|
| Built by | **Ada** [Lamp](https://example.org/lamp) |
| Height | 42 m |

The *tall* tower, with a `bell` in it, was built in 1912. It has 1\\*2 doors &amp; no lift.

1. First floor
2. Second floor

![A picture](https://example.org/p.png) and [the keeper][k] of <https://example.org/tower>.

[k]: https://example.org/keeper
"""


def marked(quote: str, text: str = ARTICLE) -> str:
    start = text.index(quote)
    shown = marked_markdown(text, start, start + len(quote))
    assert shown.marked
    return " ".join(HtmlText(shown.html).marked.split())


def test_a_quote_is_marked_across_emphasis_links_cells_and_blocks() -> None:
    assert marked("tall* tower, with a `be") == "tall tower, with a be"
    assert squeezed(marked("Built by | **Ada** [Lamp]")) == "BuiltbyAdaLamp"
    assert squeezed(marked("Height | 42 m |\n\nThe *tall*")) == "Height42mThetall"
    assert squeezed(marked("doors &amp; no lift.\n\n1. First floor\n2. Sec")) == "doors&nolift.FirstfloorSec"
    assert squeezed(marked("picture](https://example.org/p.png) and [the keeper][k]")) == "pictureandthekeeper"


def test_marking_changes_nothing_else() -> None:
    plain = marked_markdown(ARTICLE, 0, 0)
    assert not plain.marked
    for start in range(0, len(ARTICLE), 7):
        for length in (1, 9, 80):
            html = marked_markdown(ARTICLE, start, min(start + length, len(ARTICLE))).html
            assert re.sub(r'</?mark(?: id="quote")?>', "", html) == plain.html


def test_a_long_article_is_shown_in_parts() -> None:
    text = "\n\n".join(f"Paragraph {n} of the long article, which goes on." for n in range(9000))
    document = Document("d", "Long", text, "long.md")
    start = text.index("Paragraph 8000 of")
    shown = article_view(document, start, start + 14)
    assert shown.parts > 2
    assert HtmlText(shown.html).marked == "Paragraph 8000"
    whole = "".join(HtmlText(article_view(document, part=n + 1).html).text for n in range(shown.parts))
    assert squeezed(whole) == squeezed(text)


def test_a_pdf_is_shown_by_its_pages() -> None:
    text = "One page.\nSecond page begins\nand ends. Third <b>page</b>."
    pages = (0, text.index("Second"), text.index("Third"))
    document = Document("d", "Paper", text, "paper.pdf", pages=pages)
    shown = article_view(document, text.index("ends."), len(text))
    read = HtmlText(shown.html)
    assert squeezed(read.marked) == squeezed("ends. Third <b>page</b>.")
    assert 'id="page-2"' in shown.html
    assert "Page 3" in read.text
    assert shown.html.count('id="quote"') == 1
    assert read.suspect == []


WRAPPED = """The Harbour
The harbour was dug between 1811 and 1816 by prisoners of war, who also
laid the two long moles that keep the swell out. The engineer of the works
was Piet Lindqvist.
It grew in 1840, when the outer basin was added for the fishing guild of
the town.
- first basin: 1816 by the old calendar, 1817 by the new one, as ever in the
- outer basin: 1849"""


@pytest.mark.parametrize(("source", "pages"), [("harbour.pdf", (0, 200)), ("harbour.txt", ()), ("harbour.log", ())])
def test_line_breaks_that_only_fit_a_page_are_not_shown(source: str, pages: tuple[int, ...]) -> None:
    start = WRAPPED.index("The engineer")
    document = Document("d", "Harbour", WRAPPED, source, pages=pages)
    shown = article_view(document, start, WRAPPED.index("\nIt grew"))
    joined = "The engineer of the works was Piet Lindqvist."
    assert squeezed(HtmlText(shown.html).marked) == squeezed(joined)
    assert (joined in " ".join(shown.html.split("</mark>"))) is not source.endswith(".log")
    if not source.endswith(".log"):
        for kept in ("The Harbour\nThe harbour was", "\nIt grew", "the town.\n- first", "in the\n- outer basin"):
            assert kept in unwrapped(WRAPPED)
