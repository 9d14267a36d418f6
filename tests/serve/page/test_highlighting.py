"""A quote is marked in the rendered article: exactly its characters, wherever they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from iterative_rag.serve.page.articles.article_view import article_view
from iterative_rag.serve.page.articles.highlighting import marked_markdown
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


def test_signs_at_the_ends_of_a_quote_belong_to_it() -> None:
    assert marked("bell` in it, was built in 1912.") == "bell in it, was built in 1912."
    text = 'He said **"(Never)!"** and left.'
    assert marked('"(Never)!"', text) == '"(Never)!"'
    assert marked('**"(Never)!"** and', text) == '"(Never)!" and'


def test_marking_changes_nothing_else() -> None:
    plain = marked_markdown(ARTICLE, 0, 0)
    assert not plain.marked
    for start in range(0, len(ARTICLE), 7):
        for length in (1, 9, 80):
            html = marked_markdown(ARTICLE, start, min(start + length, len(ARTICLE))).html
            assert re.sub(r'</?mark(?: id="quote")?>', "", html) == plain.html


def test_the_first_mark_can_be_scrolled_to() -> None:
    html = marked_markdown(ARTICLE, 20, 300).html
    assert html.count('<mark id="quote">') == 1
    assert html.index('id="quote"') < html.index("<mark>")


def test_a_quote_that_is_all_markup_is_marked_in_the_source() -> None:
    start = ARTICLE.index("example.org/lamp")
    document = Document("d", "Tower", ARTICLE, "tower.md")
    assert not article_view(document, start, start + 16).marked
    source = article_view(document, start, start + 16, as_source=True)
    assert HtmlText(source.html).marked == "example.org/lamp"


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
    assert "\nwas Piet Lindqvist." in article_view(document, start, start + 90, as_source=True).html
    if not source.endswith(".log"):
        for kept in ("The Harbour\nThe harbour was", "\nIt grew", "the town.\n- first", "in the\n- outer basin"):
            assert kept in unwrapped(WRAPPED)


@given(st.text(alphabet="ab .\n-1é", max_size=400))
def test_joined_lines_keep_every_offset(text: str) -> None:
    joined = unwrapped(text)
    assert len(joined) == len(text)
    assert joined.replace(" ", "\n") == text.replace(" ", "\n")


# --- documents made up by hypothesis, which know of each character whether it is shown ----------------


@dataclass(frozen=True)
class Piece:
    """Some of the source, and whether readers see it."""

    source: str
    seen: bool


def seen(text: str) -> list[Piece]:
    return [Piece(text, True)]


def hidden(text: str) -> list[Piece]:
    return [Piece(text, False)]


WORDS = st.text(alphabet="abcdeXYZ0189äß語", min_size=1, max_size=6)
PLAIN = st.lists(st.one_of(WORDS, WORDS.map(lambda word: f"({word}),")), min_size=1, max_size=4).map(
    lambda words: seen(" ".join(words))
)


def _wrapped(before: str, after: str) -> st.SearchStrategy[list[Piece]]:
    return WORDS.map(lambda word: [*hidden(before), *seen(word), *hidden(after)])


INLINE = st.one_of(
    PLAIN,
    _wrapped("**", "**"),
    _wrapped("*", "*"),
    _wrapped("`", "`"),
    _wrapped("[", "](https://example.org/abc01)"),
    _wrapped("![", "](https://example.org/abc01.png)"),
    _wrapped("**[", "](https://example.org/X)**"),
    st.just(seen("<script>")),
)
LINE = st.lists(INLINE, min_size=1, max_size=4).map(
    lambda parts: [piece for n, part in enumerate(parts) for piece in ([] if n == 0 else hidden(" ")) + part]
)


def _with(before: str, line: list[Piece], after: str = "\n\n") -> list[Piece]:
    return [*hidden(before), *seen("A "), *line, *hidden(after)]


def _table(rows: list[list[list[Piece]]]) -> list[Piece]:
    made = [*hidden("| "), *seen("Head"), *hidden(" | |\n|---|---|\n")]
    for cells in rows:
        made += hidden("|")
        for cell in cells:
            made += [*hidden(" "), *cell, *hidden(" |")]
        made += hidden("\n")
    return [*made, *hidden("\n")]


BLOCK = st.one_of(
    LINE.map(lambda line: _with("", line)),
    LINE.map(lambda line: _with("## ", line)),
    LINE.map(lambda line: _with("> ", line)),
    st.lists(LINE, min_size=1, max_size=3).map(
        lambda lines: [piece for line in lines for piece in _with("- ", line, "\n")] + hidden("\n")
    ),
    st.lists(st.tuples(LINE, LINE).map(list), min_size=1, max_size=3).map(_table),
    WORDS.map(lambda word: [*hidden("```\n"), *seen(f"{word} <b>*{word}*</b>"), *hidden("\n```\n\n")]),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=5).map(lambda blocks: [piece for block in blocks for piece in block])


@settings(max_examples=150, deadline=None)
@given(pieces=DOCUMENT, ends=st.tuples(st.floats(0, 1), st.floats(0, 1)))
@example(pieces=[*seen("A a"), *hidden("\n\n"), *hidden("```\n"), *seen("b"), *hidden("\n```\n")], ends=(0.0, 1.0))
def test_marks_hold_what_is_seen_of_the_quote(pieces: list[Piece], ends: tuple[float, float]) -> None:
    source = "".join(piece.source for piece in pieces)
    shows = [piece.seen for piece in pieces for _ in piece.source]
    # A quote begins and ends at a word: what is cited is words, and signs alone may be markup or not.
    words = [n for n, character in enumerate(source) if character.isalnum() and shows[n]]
    start, stop = sorted(words[min(int(place * len(words)), len(words) - 1)] for place in ends)
    shown = marked_markdown(source, start, stop + 1)
    expected = "".join(source[n] for n in range(start, stop + 1) if shows[n])
    read = HtmlText(shown.html)
    assert squeezed(read.marked) == squeezed(expected)
    assert read.suspect == []
