"""Lines of wikitext -> HTML: headings, paragraphs, lists and tables, line by line as MediaWiki's parser does it. Rows,
cells and entries are not closed: where one ends without an end tag, HTML says."""

from __future__ import annotations

import re
from itertools import takewhile

from iterative_rag.sources.html_marks import WIKI_TAGS

# Private use characters, of which every page is stripped beforehand. PIECE and END surround the number of a piece that
# is rendered already; the others stand for a bar that parts cells but no arguments, the signs of a tag, and the brace
# that ends a table.
PIECE, END, PIPE, TAG, BRACE, TAG_END = "\ue010\ue011\ue013\ue014\ue015\ue016"
PIECES = re.compile(f"{PIECE}(\\d+){END}")

_MAX_DEPTH = 8  # of lists, and of tables within tables
_HEADING = re.compile(r"(={1,6})(.+?)\1\s*")
_LIST = re.compile(r"[*#:;]+")
_TABLE = re.compile(r"[\s:]*\{\|(.*)")
_NO_ATTRIBUTE = re.compile(f"[<>|{TAG}{TAG_END}]|/$")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,11})([^<>]{0,2000})>|<")
_EMPHASIS = re.compile("'{2,}")
_KINDS = {"*": ("ul", "li"), "#": ("ol", "li"), ":": ("dl", "dd"), ";": ("dl", "dt")}


def inline(text: str) -> str:
    """Wikitext without line structure as HTML: no emphasis, known tags only."""
    return known_tags(_EMPHASIS.sub("", text)).replace(TAG, "<").replace(TAG_END, ">")


def known_tags(text: str) -> str:
    """The text without the tags that wikitext does not allow; a "<" that begins no tag is escaped."""
    return _TAG.sub(_tag, text) if "<" in text else text


def _tag(match: re.Match[str]) -> str:
    name = (match[2] or "").lower()
    known = f"<{match[1]}{name}{PIECES.sub('', match[3] or '')}>" if name in WIKI_TAGS else ""
    return known if name else "&lt;"


def blocks(text: str) -> str:
    """Wikitext whose templates and links are rendered already, as HTML."""
    writer = _Blocks()
    for line in text.replace(PIPE, "|").replace(BRACE, "}").split("\n"):
        writer.take(line)
    writer.end()
    return "".join([*writer.out, "</table>" * len(writer.cells)])


class _Blocks:
    """`cells` says of each open table whether it has an open cell."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.paragraph: list[str] = []
        self.lists = ""
        self.cells: list[bool] = []

    def take(self, line: str) -> None:
        stripped = line.strip()
        table = _TABLE.fullmatch(line) if "{|" in line else None
        if table and len(self.cells) < _MAX_DEPTH:
            self._open_table(table[1])
        elif self.cells and stripped[:1] in ("|", "!"):
            self.end()
            self._take_cells(stripped)
        elif not stripped or stripped.startswith("----"):
            self.end()
        elif stripped[0] == "=" and (heading := _HEADING.fullmatch(stripped)):
            self.end()
            level = len(heading[1])
            self.out.append(f"<h{level}>{inline(heading[2].strip())}</h{level}>")
        elif line[0] in _KINDS:
            self.end(lists=False)
            self._take_entry(line)
        else:
            self._end_lists()
            self.paragraph.append(inline(line))

    def end(self, *, lists: bool = True) -> None:
        if self.paragraph:
            self.out.append("<p>" + "\n".join(self.paragraph) + "</p>\n")
            self.paragraph = []
        if lists:
            self._end_lists()

    def _end_lists(self, kept: int = 0) -> None:
        self.out += [f"</{_KINDS[kind][0]}>\n" for kind in reversed(self.lists[kept:])]
        self.lists = self.lists[:kept]

    def _take_entry(self, line: str) -> None:
        marks = _LIST.match(line)[0]  # type: ignore[index]
        text = line[len(marks) :].strip()
        marks = marks[:_MAX_DEPTH]
        if not text:
            return
        # A term and its definition are entries of one list.
        pairs = zip(marks.replace(";", ":"), self.lists.replace(";", ":"), strict=False)
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        self._end_lists(common)
        if common == len(marks):  # one more entry of the list that is open
            self.out.append(f"\n<{_KINDS[marks[-1]][1]}>")
        self.out += [f"<{wrapper}><{entry}>" for wrapper, entry in map(_KINDS.__getitem__, marks[common:])]
        self.lists = marks
        term, colon, meaning = text.partition(" :" if " :" in text else ": ")
        if marks[-1] == ";" and colon:
            text = f"{term}\n<dd>{meaning.strip()}"
        self.out.append(inline(text))

    def _open_table(self, attributes: str) -> None:
        self.end()
        if self.cells and not self.cells[-1]:  # a table between the cells of another gets a cell of its own
            self._open_cell("td", "")
        self.cells.append(False)
        self.out.append(f"<table{_attributes(attributes)}>")

    def _open_cell(self, tag: str, attributes: str) -> None:
        self.out.append(f"<{tag}{_attributes(attributes)}>")
        self.cells[-1] = True

    def _take_cells(self, line: str) -> None:
        if line.startswith("|}"):
            self.cells.pop()
            self.out.append("</table>\n")
            self.paragraph += [inline(line[2:].strip())] if line[2:].strip() else []
        elif line.startswith("|-"):
            self.cells[-1] = False
            self.out.append("\n<tr>")
        elif line.startswith("|+"):
            self._take_cell("caption", line[2:])
        else:
            tag = "th" if line[0] == "!" else "td"
            cells = line[1:].replace("!!", "||") if tag == "th" else line[1:]
            for cell in cells.split("||"):
                self.end()
                self._take_cell(tag, cell)

    def _take_cell(self, tag: str, cell: str) -> None:
        attributes, bar, text = cell.partition("|")
        if not bar or (PIECE in attributes and "=" not in attributes):
            attributes, text = "", cell
        self._open_cell(tag, attributes)
        if text.strip():  # not `take`: no list begins on the line of the bar ("! # !! Name")
            self.paragraph.append(inline(text.strip()))


def _attributes(text: str) -> str:
    """The attributes of a table or cell, which end where they should: no signs of tags, no quote that stays open."""
    text = _NO_ATTRIBUTE.sub("", PIECES.sub("", text)).replace("'", '"').strip()
    text = text.replace('"', "") if text.count('"') % 2 else text
    return f" {text}" if text else ""
