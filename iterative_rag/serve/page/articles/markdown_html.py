"""Markdown of a document as HTML: parsed without raw HTML, then passed through a sanitiser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import nh3

from iterative_rag.types.documents import web_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_TAGS = {
    *(f"h{level}" for level in range(1, 7)),
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_CLASSES = {"span": {"image"}, "th": {"left", "center", "right"}, "td": {"left", "center", "right"}}
_EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def markdown_html(text: str) -> str:
    """The sanitised HTML. A link leads to the web, or nowhere."""
    cleaned = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    # A header cell without text is announced by screen readers as a header of nothing.
    return _EMPTY_HEADER.sub(r"<td\1></td>", cleaned)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["html_block"])
    # Addresses are judged where a link is rendered.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _cell)
    return parser


def _image(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    """Pictures are not loaded: what is said of them stands in their place."""
    said = self.renderInlineAsText(tokens[n].children, options, env)
    return f'<span class="image">{nh3.clean_text(said)}</span>'


def _link(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    address = web_link(str(tokens[n].attrGet("href") or ""))
    tokens[n].attrs = {"href": address} if address else {}
    return self.renderToken(tokens, n, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    """The alignment of a column as a class, since styles in the page are not allowed."""
    style = str(tokens[n].attrs.pop("style", ""))
    if style:
        tokens[n].attrSet("class", style.removeprefix("text-align:"))
    return self.renderToken(tokens, n, options, env)
