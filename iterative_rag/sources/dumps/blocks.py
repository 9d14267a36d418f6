"""Lines of wikitext -> HTML: headings, paragraphs, lists and tables, the way MediaWiki's own parser goes by lines."""

from __future__ import annotations

import re

from iterative_rag.sources.dumps.inline import LINK, PIECES, PIPE, inline

MOST_LEVELS = 8  # of lists, and of tables within tables
_HEADING = re.compile(r"(={1,6})(.+?)\1\s*")
_LIST = re.compile(r"[*#:;]+")
_TABLE = re.compile(r"[\s:]*\{\|(.*)")
_SPAN = re.compile(r"\b(rowspan|colspan)\s*=\s*[\"']?\s*(\d{1,5})", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_KINDS = {"*": ("ul", "li"), "#": ("ol", "li"), ":": ("dl", "dd"), ";": ("dl", "dt")}


def blocks(text: str) -> str:
    """Wikitext, its templates and links rendered already, as HTML."""
    writer = _Blocks()
    for line in text.replace(PIPE, "|").split("\n"):
        writer.take(line)
    return writer.done()


class _Blocks:
    """Takes line by line; `cells` holds what is open in each table that is open: td, th, caption, or "" for none."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.paragraph: list[str] = []
        self.lists = ""
        self.cells: list[str] = []
        self.rows: list[bool] = []

    def take(self, line: str) -> None:
        stripped = line.strip()
        table = _TABLE.fullmatch(line) if "{|" in line else None
        if table and len(self.cells) < MOST_LEVELS:
            self._open_table(table[1])
        elif self.cells and stripped[:1] in ("|", "!"):
            self._take_cells(stripped)
        elif not stripped or stripped.startswith("----"):
            self._end()
        elif stripped[0] == "=" and (heading := _HEADING.fullmatch(stripped)):
            self._end()
            level = len(heading[1])
            self.out.append(f"<h{level}>{inline(heading[2].strip())}</h{level}>")
        elif line[0] in _KINDS:
            self._end_paragraph()
            self._take_entry(line)
        else:
            self._end_lists()
            self.paragraph.append(inline(line))

    def done(self) -> str:
        while self.cells:
            self._close_table()
        self._end()
        return "".join(self.out)

    # --- paragraphs and lists ---

    def _end(self) -> None:
        self._end_paragraph()
        self._end_lists()

    def _end_paragraph(self) -> None:
        if self.paragraph:
            said = "\n".join(self.paragraph)
            self.out.append(f"<p>{said}</p>\n")
            self.paragraph = []

    def _end_lists(self, kept: int = 0) -> None:
        for kind in reversed(self.lists[kept:]):
            around, entry = _KINDS[kind]
            self.out.append(f"</{entry}></{around}>\n")
        self.lists = self.lists[:kept]

    def _take_entry(self, line: str) -> None:
        found = _LIST.match(line)
        marks = found[0] if found else ""
        said = line[len(marks) :].strip()
        marks = marks[:MOST_LEVELS]
        if not said:
            return
        common = 0
        while common < min(len(marks), len(self.lists)) and _one_list(marks[common], self.lists[common]):
            common += 1
        self._end_lists(common)
        if common == len(marks):  # one more entry of the list that is open
            before, entry = _KINDS[self.lists[-1]][1], _KINDS[marks[-1]][1]
            self.out.append(f"</{before}>\n<{entry}>")
            self.lists = marks
        for kind in marks[common:]:
            around, entry = _KINDS[kind]
            self.out.append(f"<{around}><{entry}>")
        self.lists = self.lists[:common] + marks[common:]
        term, parted, meaning = said.partition(" :" if " :" in said else ": ")
        if marks[-1] == ";" and parted:
            self.out.append(f"{inline(term)}</dt>\n<dd>{inline(meaning.strip())}")
            self.lists = self.lists[:-1] + ":"
        else:
            self.out.append(inline(said))

    # --- tables ---

    def _open_table(self, attributes: str) -> None:
        self._end()
        if self.cells and not self.cells[-1]:  # a table between the cells of another belongs to no cell: make one
            self._open_cell("td", "")
        self.cells.append("")
        self.rows.append(False)
        names = next((" ".join(filter(None, match.groups())) for match in _CLASS.finditer(attributes)), "")
        names = re.sub(r"[^\w -]", "", PIECES.sub("", names))
        hidden = ' style="display:none"' if _HIDDEN.search(attributes) else ""
        self.out.append(f'<table class="{names}"{hidden}>')

    def _close_table(self) -> None:
        self._close_row()
        self.cells.pop()
        self.rows.pop()
        self.out.append("</table>\n")

    def _close_cell(self) -> None:
        self._end()
        if self.cells[-1]:
            self.out.append(f"</{self.cells[-1]}>")
            self.cells[-1] = ""

    def _close_row(self) -> None:
        self._close_cell()
        if self.rows[-1]:
            self.out.append("</tr>\n")
            self.rows[-1] = False

    def _open_cell(self, tag: str, attributes: str) -> None:
        self._close_cell()
        if tag != "caption" and not self.rows[-1]:
            self.out.append("<tr>")
            self.rows[-1] = True
        spans = "".join(f' {name.lower()}="{number}"' for name, number in _SPAN.findall(attributes))
        hidden = ' style="display:none"' if _HIDDEN.search(attributes) else ""
        self.out.append(f"<{tag}{spans}{hidden}>")
        self.cells[-1] = tag

    def _take_cells(self, line: str) -> None:
        if line.startswith("|}"):
            self._close_table()
            if rest := line[2:].strip():
                self.paragraph.append(inline(rest))
        elif line.startswith("|-"):
            self._close_row()
        elif line.startswith("|+"):
            self._close_row()
            self._take_cell("caption", line[2:])
        else:
            tag = "th" if line[0] == "!" else "td"
            said = line[1:].replace("!!", "||") if tag == "th" else line[1:]
            for cell in said.split("||"):
                self._take_cell(tag, cell)

    def _take_cell(self, tag: str, said: str) -> None:
        attributes, parted, text = said.partition("|")
        if not parted or LINK in attributes:
            attributes, text = "", said
        self._open_cell(tag, attributes)
        if text.strip():  # no list begins on the line of the bar: "! # !! Name"
            self.paragraph.append(inline(text.strip()))


def _one_list(mark: str, other: str) -> bool:
    """Whether two marks make entries of one list: a term and its meaning do."""
    return mark == other or {mark, other} == {":", ";"}
