"""HTML: the text of the page as Markdown, with its tables; no scripts, menus, forms or advertisements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.sources import html_marks
from iterative_rag.sources.decoding import decode_html
from iterative_rag.sources.formats.format import ALT_WORDS, Format, Reading, shown, title_of
from iterative_rag.sources.html_marks import parsed
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.sources.wikipedia import page_markdown
from iterative_rag.sources.wikipedia.page_tables import IMAGE_SUFFIXES
from iterative_rag.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_BYTES = 16 * 1024 * 1024
# What a reader of the page does not see, or not as text; what a page says twice, for eyes and for screen readers.
_NOT_SHOWN = """
    script, style, link, datalist, dialog:not([open]), [aria-hidden=true], [hidden]:not([hidden=until-found]), iframe,
    audio, video, map, .zim-footer, .openzim-footer
"""
# What may be a frame around the text: menus, banners, notices. Whether it is one is decided by what it holds.
_MAY_FRAME = """
    nav, menu, header, footer, aside, form, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search],
    [role=complementary], [role=dialog], [role=alertdialog], .nav, .navbar, .menu, .breadcrumb, .breadcrumbs, .cookie,
    .cookies, .advertisement, .ads, .share, .skip-link
"""
_LEADING = "a, button, label, input, select"  # leads elsewhere, or waits for a click
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_SAYS = re.compile(r"\d|[^\W\d]{2}[.!?]|[。！？।؟]")  # a sentence or a figure
_FEW = 4  # words that name a site, and tell nothing
_MANY_LINKS = 3  # words of links to each other word, in a menu
_JUDGED_CHARS = 50_000_000  # of parts within parts, each of which is read as a whole
# The article of a page that was saved from a wiki, whatever its skin.
_WIKI = "#mw-content-text"
_OF_WIKI = f"{_WIKI}, .mw-parser-output, .mw-headline, .mw-heading, .mw-redirect, sup.reference[id^=cite], .navbox"
_HEADINGS = "h1 button, h2 button, h3 button, h4 button, h5 button, h6 button, dt button, summary button"


class NoText(FetchError):
    """A page that is all frame, or pictures."""


def read(path: Path) -> Reading:
    yield page(decode_html(path.read_bytes()), shown(path), title_of(path))


def page(html: str, source: str, title: str, said: Iterable[tuple[str, str]] = ()) -> Document:
    """The document of a page, with what is `said` of it; `title` is used where it has none. Raises NoText, or
    FetchError where it cannot be converted."""
    tree = parsed(html)
    url = _canonical(tree)
    kinds = {"pages within the page": len(tree.css("iframe[srcdoc]"))}
    html_marks.write_formulas(tree)
    for node in tree.css(_NOT_SHOWN):
        node.decompose()
    wiki = tree.css_matches(_OF_WIKI)
    heading = _heading(tree, head := _line(tree.css_first("head > title")))
    top = _line(heading)
    title = top if top and top in head else head or top or title
    if heading is not None and top == title:
        heading.decompose()  # the converter begins with the title
    _remove_frame(tree)
    _write_words(tree, wiki=wiki)
    text = page_markdown.of_tree(tree, title, wiki=wiki)
    if not text.partition("\n")[2].strip():
        raise NoText("It holds no text besides scripts, menus and forms.")
    return Document("", title, text, source, url, metadata=metadata_of([*said, *not_read(kinds)]))


def _heading(tree: LexborHTMLParser, head: str) -> LexborNode | None:
    """The heading that names the page: that of its main part, else one that its title begins with, else the first."""
    for selector in ("#firstHeading", "main h1", "[role=main] h1", "article h1"):
        if node := tree.css_first(selector):
            return node
    headings = tree.css("h1")
    begins = (heading for heading in headings if _line(heading) and head.startswith(_line(heading)))
    return next(begins, headings[0] if headings else None)


def _remove_frame(tree: LexborHTMLParser) -> None:
    """Remove what frames the text: beside the article of a wiki all of it, elsewhere what only leads to other pages.
    The innermost parts come first: a header is judged without the menu in it."""
    judged = 0
    for node in reversed(tree.css(_MAY_FRAME)):
        if judged > _JUDGED_CHARS:
            break
        judged += len(text := node.text())
        if _is_frame(node, text):
            node.decompose()
    part = tree.css_first(_WIKI)
    while part is not None and part.tag != "body" and part.parent is not None:
        for child in list(part.parent.iter(include_text=True)):
            if child.mem_id != part.mem_id:
                child.decompose()
        part = part.parent


def _is_frame(node: LexborNode, text: str) -> bool:
    """Whether a part holds nothing but links, fields and a few words."""
    if node.css_matches("h1"):
        return False
    leading = sum(len(_WORD.findall(link.text())) for link in node.css(_LEADING) if link.mem_id != node.mem_id)
    own = len(_WORD.findall(text)) - leading
    if own < (2 if node.tag == "aside" else _FEW) and not _SAYS.search(text):
        return True
    if node.tag == "form":  # may be wrapped around the whole page
        return False
    return own * _MANY_LINKS < leading


# --- what is text on the screen, and none in the tree ----------------------------------------


def _write_words(tree: LexborHTMLParser, *, wiki: bool) -> None:
    """Write what stands in attributes and drawings, quotation marks, and how characters are read; fields go."""
    for node in tree.css(_HEADINGS):
        node.unwrap()
    for node in tree.css("summary"):
        if node.css_first("h1, h2, h3, h4, h5, h6") is not None:
            node.unwrap()  # a heading cannot stand in the bold line that a summary becomes
    for node in tree.css("input, select, button"):
        node.replace_with(" ")
    for node in tree.css("svg"):
        node.replace_with(" ".join(["", *(label.text().strip() for label in node.css("text")), ""]))
    for node in tree.css("img[alt]") if not wiki else ():
        alt = " ".join((node.attributes.get("alt") or "").split())
        if len(_WORD.findall(alt)) >= ALT_WORDS and not alt.lower().endswith(IMAGE_SUFFIXES):
            node.replace_with(f" {alt} ")
    tree.unwrap_tags(["q", "ruby", "rb", "rt", "rp", "noscript", "object", "canvas", "form", "textarea"])


def _canonical(tree: LexborHTMLParser) -> str | None:
    node = tree.css_first('link[rel="canonical"]')
    url = (node.attributes.get("href") or "").strip() if node is not None else ""
    return url if url.startswith(("http://", "https://")) and len(url) < 2000 else None


def _line(node: LexborNode | None) -> str:
    return " ".join(node.text().split())[:300] if node is not None else ""


FORMAT = Format(read, MAX_BYTES, needs=("html_to_markdown", "selectolax"))
