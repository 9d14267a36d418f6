"""The HTML of a wiki page -> Markdown for reading and searching: text, headings, lists, tables; no links, no markup.

html-to-markdown writes the Markdown. Before that, selectolax removes what is not the article's text and takes out the
tables, because no converter fills in merged cells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources import html_marks
from iterative_rag.sources.html_marks import parsed
from iterative_rag.sources.wikipedia import page_tables as tables
from iterative_rag.sources.wikipedia.page_tables import BREAK, ENTRY

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NOT_TEXT = "style, script, link, meta, noscript, template, svg, audio, video, hr"
# Of a wiki's page: references and their marks; navigation boxes, notices and metadata; edit links.
_NO_ARTICLE = """
    .mw-editsection, .mw-jump-link, .mw-empty-elt, .noprint, .toc, #toc,
    sup.reference, .mw-ref, .reflist, .references, .mw-references-wrap, .mw-cite-backlink, .Inline-Template,
    .navbox, .navbox-styles, .vertical-navbox, .navbar, .sidebar, .hatnote, .dablink, .rellink, .portal-bar, .portalbox,
    .sistersitebox, .side-box, .authority-control, #normdaten, .catlinks, .printfooter, .mw-indicators, .stub, .asbox,
    .metadata, .ambox, .ombox, .tmbox, .cmbox, .fmbox, .mbox-small, .shortdescription,
    .geo-nondefault, .geo-multi-punct, .sortkey, .ext-phonos, .mw-kartographer-container, .locmap
"""
_HIDDEN = ("display:none", "visibility:hidden")
_ENTRIES_OF_CELLS = "li, p, div, dd, dt, tr, td, th, blockquote, pre, figcaption"
_MARK = "\ue002"  # around the number of a table that was taken out
_MARKED = re.compile(f"[ \\t]*{_MARK}(\\d+){_MARK}")
_ESCAPED = re.compile(r"^([ >]*(?:- )?)(?:\\([#+>-])|(\d+)\\([.)]))", re.MULTILINE)
_TIGHT_QUOTE = re.compile(r"^(?!>)(.+)\n(?=>)", re.MULTILINE)
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_PREFORMATTED = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_LINE_END = re.compile(r"(?:(?<=[^>\s])|(?<=</code>))[ \t]*\n\s*(?=[^<\s]|<code)")
_BLANK_LINES = re.compile(r"\n{3,}")


def require_converters(extra: str = "wikipedia") -> None:
    """Raises MissingExtra for the `extra` of the caller, which so fails before it fetches or reads the first page."""
    try:
        import html_to_markdown  # noqa: F401
        import selectolax.lexbor  # noqa: F401
    except ImportError as error:
        raise MissingExtra(extra) from error


def to_markdown(html: str, title: str) -> str:
    """The page as Markdown, headed by its title. `html` is what the API's `parse` gives. Raises MissingExtra, or
    FetchError for a page that cannot be converted whole."""
    require_converters()
    return of_tree(parsed(html), title)


def of_tree(tree: LexborHTMLParser, title: str, *, wiki: bool = True) -> str:
    """The same for a page that is parsed already, and holds no private characters. The tree is changed. `wiki`: its
    boxes have the names of a wiki's."""
    html_marks.write_formulas(tree)
    for node in tree.css(".frac .sr-only"):
        node.replace_with(" ")  # the "+" of 5+1⁄2, which is for screen readers
    for node in tree.css(f"{_NOT_TEXT}, {_NO_ARTICLE}" if wiki else _NOT_TEXT):
        node.decompose()
    for node in tree.css("[style]"):
        style = (node.attributes.get("style") or "").replace(" ", "").lower()
        if any(hidden in style for hidden in _HIDDEN):
            node.decompose()
    html_marks.write_scripts(tree)
    html_marks.strike(tree)
    html_marks.number_lists(tree)
    for foot in tree.css("tfoot"):
        if foot.parent is not None:  # browsers show it last, wherever it stands
            foot.parent.insert_child(foot)
            foot.decompose()
    texts = _take_tables(tree)
    for node in tree.css("figcaption"):
        node.insert_before(tree.create_node("p"))
    tree.unwrap_tags(["figure", "figcaption"])
    tree.unwrap_tags([*html_marks.INLINE])
    text = _tidy(html_marks.tidied(_converted(body.html or "" if (body := tree.body) else "", title)))
    text = _MARKED.sub(lambda match: f"\n\n{texts[int(match[1])]}\n\n", text)
    return _BLANK_LINES.sub("\n\n", f"# {title}\n\n{text.strip()}\n")


def _take_tables(tree: LexborHTMLParser) -> list[str]:
    """Replace each table by a mark with its number; returns the tables as Markdown."""
    data: list[LexborNode] = []
    inner: set[int] = set()
    for table in tree.css("table"):  # in document order: an outer table comes before its inner ones
        if table.mem_id in inner:
            continue
        if tables.is_layout(table):
            _unwrap(tree, table)
        else:
            data.append(table)
            inner.update(nested.mem_id for nested in table.css("table") if nested.mem_id != table.mem_id)
    texts: list[str] = []
    for table in data:
        _mark_lines(table)
        paragraph = tree.create_node("p")
        paragraph.insert_child(f"{_MARK}{len(texts)}{_MARK}")
        texts.append(tables.to_markdown(table))
        table.replace_with(paragraph)
    return texts


def _unwrap(tree: LexborHTMLParser, table: LexborNode) -> None:
    """Replace a layout table by the content of its cells, as paragraphs."""
    rows = list(tables.own_rows(table))
    for cell in (child for row in rows for child in row.iter() if child.tag in ("td", "th")):
        cell.insert_before(tree.create_node("p"))
        cell.insert_after(tree.create_node("p"))
        cell.unwrap()
    groups = [child for child in table.iter() if child.tag in ("caption", "thead", "tbody", "tfoot")]
    for part in (*rows, *groups, table):
        part.unwrap()


def _mark_lines(table: LexborNode) -> None:
    """Mark where lines and entries end, so that a cell's text can be taken as a whole."""
    for node in table.css("br"):
        node.replace_with(BREAK)
    for node in table.css(_ENTRIES_OF_CELLS):
        if "inline" not in (node.attributes.get("style") or ""):
            if node.first_child is not None:
                node.first_child.insert_before(ENTRY)
            if node.last_child is not None:
                node.last_child.insert_after(ENTRY)


def _converted(html: str, title: str) -> str:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, WarningKind, convert

    as_it_is = PreprocessingOptions(enabled=False)
    options = ConversionOptions(
        bullets="-", skip_images=True, autolinks=False, extract_metadata=False, preprocessing=as_it_is
    )
    # A paragraph is one line, however its source is broken; only preformatted text has lines.
    parts = (part if part.startswith("<pre") else _LINE_END.sub(" ", part) for part in _PREFORMATTED.split(html))
    done = convert("".join(parts), options)
    if any(notice.kind in (WarningKind.DEPTH_LIMIT_EXCEEDED, WarningKind.TRUNCATED_INPUT) for notice in done.warnings):
        raise FetchError(f"The page {title!r} is nested too deeply to be converted whole.")
    return done.content or ""


def _tidy(text: str) -> str:
    """The text without the converter's escapes (a year at the start of a line is no list) and spaces at line ends."""
    text = _ESCAPED.sub(lambda match: match[1] + (match[2] or f"{match[3]}{match[4]}"), text)
    text = _TIGHT_QUOTE.sub(r"\1\n\n", text)
    return _TRAILING.sub("", text.replace("\u00a0", " "))
