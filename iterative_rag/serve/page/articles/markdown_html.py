"""Markdown of a document as HTML: parsed without raw HTML, then passed through a sanitiser."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import nh3

from iterative_rag.types.links import web_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TAGS = {
    *_HEADINGS,
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}} | {heading: {"id"} for heading in _HEADINGS}
_CLASSES = {"span": {"image"}, "th": {"left", "center", "right"}, "td": {"left", "center", "right"}}
_SECTION = "section-"
_EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")

LinkTarget = Callable[[str], str]


def web_only(address: str) -> str:
    """Where a link of a document leads: to the web, or nowhere."""
    return web_link(address)


def markdown_html(text: str, *, readable: Callable[[str], str] = str, target: LinkTarget = web_only) -> str:
    """The sanitised HTML. `readable` turns what stands in addresses back into what the document says; `target` says
    where a link of the document leads, "" for nowhere."""
    env: dict[str, Any] = {"readable": readable, "target": target, "references": _References(readable)}
    parser = _parser()
    tokens = parser.parse(text, env)
    _number_headings(tokens)
    return _sanitised(parser.renderer.render(tokens, parser.options, env))


def headings(text: str) -> list[tuple[int, str, str]]:
    """The outline of a Markdown text: level, id and text of each heading."""
    tokens = _parser().parse(text, {"readable": str, "target": web_only})
    _number_headings(tokens)
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            said = "".join(child.content for child in inline.children or () if child.type != "image")
            found.append((int(opening.tag[1:]), str(opening.attrGet("id")), said))
    return found


class _References(dict[str, Any]):
    """Addresses by the label that a link names them by, whether or not a label is part of a marked quote."""

    def __init__(self, readable: Callable[[str], str]) -> None:
        super().__init__()
        self._readable = readable

    def _key(self, label: object) -> str:
        return self._readable(str(label)).casefold()

    def __contains__(self, label: object) -> bool:
        return super().__contains__(self._key(label))

    def __getitem__(self, label: str) -> Any:
        return super().__getitem__(self._key(label))

    def __setitem__(self, label: str, address: Any) -> None:
        super().__setitem__(self._key(label), address)

    def get(self, label: str, default: Any = None) -> Any:
        return super().get(self._key(label), default)


def _number_headings(tokens: Sequence[Token]) -> None:
    opened = (token for token in tokens if token.type == "heading_open")
    for number, token in enumerate(opened, start=1):
        token.attrSet("id", f"{_SECTION}{number}")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["html_block"])
    # Addresses are judged where a link is rendered, by what the document says in them.
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
    address = env["target"](env["readable"](str(tokens[n].attrGet("href") or "")))
    tokens[n].attrs = {"href": address} if address else {}
    return self.renderToken(tokens, n, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], n: int, options: OptionsDict, env: EnvType) -> str:
    """The alignment of a column as a class, since styles in the page are not allowed."""
    style = str(tokens[n].attrs.pop("style", ""))
    if style:
        tokens[n].attrSet("class", style.removeprefix("text-align:"))
    return self.renderToken(tokens, n, options, env)


def _sanitised(html: str) -> str:
    # A header cell without text is announced by screen readers as a header of nothing.
    return _EMPTY_HEADER.sub(r"<td\1></td>", _cleaned(html))


def _cleaned(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        attribute_filter=_allowed,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )


def _allowed(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "id":
        return value if re.fullmatch(rf"{_SECTION}\d+", value) else None
    return value
