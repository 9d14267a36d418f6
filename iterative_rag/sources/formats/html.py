"""HTML: the text of the page as Markdown, with its tables; no scripts, menus, forms or advertisements."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources import html_marks
from iterative_rag.sources.decoding import decode_html
from iterative_rag.sources.formats.format import Format, Reading, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.html_tree import parsed, without_private
from iterative_rag.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 2_000
HOLDS_NO_TEXT = "It holds no text besides scripts, menus and forms."
_NOT_TEXT = """
    script, style, noscript, template, iframe, object, embed, canvas, svg, form, button, input, select, textarea,
    dialog, nav, aside, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary],
    [role=dialog], [aria-hidden=true], [hidden],
    .nav, .navbar, .menu, .breadcrumb, .breadcrumbs, .cookie, .cookies, .advertisement, .ads, .share, .skip-link
"""
_BLOCK_TAG = re.compile(
    r"<(/?)(?:div|[uod]l|table|blockquote|section|article|center|fieldset|details|pre)\b", re.IGNORECASE
)
# Header and footer of the page; those of an article hold its title or its date.
_FRAME = "body > header, body > footer, body > div > header, body > div > footer"
_MAIN = ("main", "[role=main]", "article")
_MAIN_SHARE = 0.5  # of the page's text; with less, the part is one of several, or a teaser


def read(path: Path) -> Reading:
    source = shown(path)
    html = decode_html(path.read_bytes())
    if not isinstance(html, str):
        yield Skipped(source, html.reason)
        return
    try:
        yield page(html, source, title_of(path))
    except FetchError as error:
        yield Skipped(source, str(error))


def page(html: str, source: str, title: str) -> Document | Skipped:
    """The document of a page; `title` is used where it has none. Raises FetchError where it cannot be converted."""
    from iterative_rag.sources.wikipedia import page_markdown

    too_deep = Skipped(source, f"It is nested more than {MAX_DEPTH:,} levels deep.")
    if _opens_too_many(html):
        return too_deep
    tree = parsed(without_private(html))
    if _is_too_deep(tree):
        return too_deep
    url, struck = _canonical(tree), html_marks.struck_by_sheets(tree)
    for node in tree.css(f"{_NOT_TEXT}, {_FRAME}"):
        node.decompose()
    _keep_main(tree)
    heading = tree.css_first("h1")
    head, top = _line(tree.css_first("title")), _line(heading)
    title = top if top and top in head else head or top or title
    if heading is not None and top == title:
        heading.decompose()  # the converter begins with the title
    text = page_markdown.of_tree(tree, title, struck)
    if not text.partition("\n")[2].strip():
        return Skipped(source, HOLDS_NO_TEXT)
    return Document("", title, text, source, url)


def _keep_main(tree: LexborHTMLParser) -> None:
    """Remove what is beside the part that is marked as main content, if most of the text is in it."""
    body = tree.body
    whole = len(body.text()) if body is not None else 0
    for selector in _MAIN:
        found = tree.css(selector)
        if body is not None and len(found) == 1 and len(found[0].text()) >= _MAIN_SHARE * whole:
            part = found[0]
            while part.mem_id != body.mem_id and part.parent is not None:
                for one in list(part.parent.iter(include_text=True)):
                    if one.mem_id != part.mem_id:
                        one.decompose()
                part = part.parent
            return


def _canonical(tree: LexborHTMLParser) -> str | None:
    for selector, name in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        node = tree.css_first(selector)
        url = (node.attributes.get(name) or "").strip() if node is not None else ""
        if url.startswith(("http://", "https://")) and len(url) < 2000:
            return url
    return None


def _line(node: LexborNode | None) -> str:
    return " ".join(node.text().split())[:300] if node is not None else ""


def _opens_too_many(html: str) -> bool:
    """Whether too many blocks are open at once: the parser goes through all of them for each that opens."""
    level = 0
    for tag in _BLOCK_TAG.finditer(html):
        level = max(0, level - 1) if tag[1] else level + 1
        if level > MAX_DEPTH:
            return True
    return False


def _is_too_deep(tree: LexborHTMLParser) -> bool:
    """Whether the tree has more levels than the converters can process."""
    level = 0
    node = tree.root
    while node is not None:
        if node.first_child is not None:
            node, level = node.first_child, level + 1
            if level > MAX_DEPTH:
                return True
            continue
        while node is not None and node.next is None:
            node, level = node.parent, level - 1
        node = node.next if node is not None else None
    return False


FORMAT = Format(read, MAX_BYTES, needs=("html_to_markdown", "selectolax"))
