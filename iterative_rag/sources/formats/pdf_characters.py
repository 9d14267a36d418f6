"""The pages of a PDF, and the characters of a page: those of a line together and in logical order, with note marks."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from iterative_rag.sources import html_marks
from iterative_rag.sources.formats.format import MAX_CHARS
from iterative_rag.text.plurals import counted
from iterative_rag.text.unspaced import UNSPACED

MAX_PAGES = 20_000
MAX_ANNOTATIONS = 2_000  # of a page

# In heights of a line: a gap between two columns or cells, and between two words.
_CELL_GAP, _WORD_GAP, _RTL_WORD_GAP = 1.2, 0.16, 0.2
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RTL_LETTER, _LATIN = re.compile(f"[{_RTL}]"), re.compile(f"[^\\W\\d_{_RTL}]")
_LEFT_TO_RIGHT = re.compile(f"((?:[^\\W_{_RTL}]|%)(?:[^{_RTL}()\\[\\]«»]*[^\\W_{_RTL}])?)")
_NUMBER, _LAM_ALEF = re.compile(r"%?\d+(?:[.,:/]\d+)*"), re.compile("ل[اأإآٱ]$")
_CLOSING = {"(": ")", "[": "]", "«": "»"}
_OPENING = str.maketrans({closing: opening for opening, closing in _CLOSING.items()})
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PIECE = re.compile(r"[\s\x00]+|[^\W\d_]+|[^\s\x00]")
# PDFium writes \x02 or \ufffe for a hyphen at the end of a line.
_CONTROLS = {code: "\0" for code in (*range(0x20), *range(0x7F, 0xA0), 0xFFFF) if code not in (0x09, 0x0A, 0x0D)} | {
    0x02: "-", 0xFFFE: "-",
}  # fmt: skip


@dataclass(slots=True)
class Run:
    """Characters on one baseline without a wide gap, then a line; `cells`: its characters and their edges."""

    base: float
    height: float
    left: float = math.inf
    right: float = -math.inf
    text: str = ""
    cells: list[tuple[str, float, float]] = field(default_factory=list)
    turned: bool = False

    def add(self, cells: Iterable[tuple[str, float, float]], left: float, right: float) -> None:
        self.cells += cells
        self.left, self.right = min(self.left, left), max(self.right, right)

    def gap(self, left: float, right: float) -> float:
        """How far a stretch lies beside this run; negative where they overlap."""
        return max(left - self.right, self.left - right)

    def is_beside(self, other: Run) -> bool:
        return abs(self.base - other.base) < 0.4 * max(self.height, other.height)


def pages_of(pdf: PdfDocument, kinds: Counter[str]) -> tuple[list[list[Run]], str]:
    """The runs of each page, and what was left out and why ("" for nothing); counts kinds of what has no text."""
    kinds["attached files"] = max(0, pdfium.FPDFDoc_GetAttachmentCount(pdf.raw))
    form = pdfium.FPDF_GetFormType(pdf.raw)
    kinds["XFA forms"] = int(form in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND))
    if form != pdfium.FORMTYPE_NONE:
        pdf.init_forms()  # which has PDFium draw the values of fields
    pages: list[list[Run]] = []
    broken: list[str] = []
    size = 0
    for number in range(1, len(pdf) + 1):
        if number > MAX_PAGES or size > MAX_CHARS:
            return pages, f"It is too long: only its first {number - 1:,} of {counted(len(pdf), 'page')} are read."
        runs: list[Run] = []
        try:
            page = pdf[number - 1]
            try:
                if _flatten(page, kinds):
                    page.close()
                    page = pdf[number - 1]
                runs = runs_of(page)
                kinds["pages without text"] += not runs and pdfium.FPDFPage_CountObjects(page.raw) > 0
            finally:
                page.close()
        except pypdfium2.PdfiumError:
            broken.append(str(number))
        pages.append(runs)
        size += sum(len(run.text) + 1 for run in runs)
    if not broken:
        return pages, ""
    return pages, f"{len(broken)} of its {counted(len(pdf), 'page')} cannot be read ({', '.join(broken[:5])})."


def _flatten(page: PdfPage, kinds: Counter[str]) -> bool:
    """Make what form fields and annotations show a part of the page, which is then to be opened again; False where
    there are none. Comments show a sign only: they are counted."""
    no_comments = (
        *(pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT),  # are drawn
        *(pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP),
    )
    count = min(pdfium.FPDFPage_GetAnnotCount(page.raw), MAX_ANNOTATIONS)
    for index in range(count):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        comment = pdfium.FPDFAnnot_GetSubtype(annotation) not in no_comments
        kinds["comments"] += comment and pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0) > 2
        pdfium.FPDFPage_CloseAnnot(annotation)
    return bool(count and pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def runs_of(page: PdfPage) -> list[Run]:
    """The runs of a page in the order of the file; marks and exponents are written into theirs."""
    runs: list[Run] = []
    for run in _with_scripts(_raw_runs(page)):
        last = runs[-1] if runs else None
        near = last and not (run.turned or last.turned) and last.is_beside(run)
        if last and near and (gap := last.gap(run.left, run.right)) < _CELL_GAP * last.height:
            if gap > word_gap(last.cells[-1][0], run.cells[0][0]) * last.height:
                last.cells.append((" ", last.right, last.right))
            last.add(run.cells, run.left, run.right)
            last.height = max(last.height, run.height)
        else:
            runs.append(run)
    for run in runs:
        run.text = _text(run).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [run for run in runs if run.text]


def _raw_runs(page: PdfPage) -> list[Run]:
    content = page.get_textpage()
    raw = content.raw
    box, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    at_box, at_x, at_y = ctypes.byref(box), ctypes.byref(x), ctypes.byref(y)

    def measured(index: int) -> tuple[float, float, float, float]:
        """The edges, baseline and height of a character."""
        pdfium.FPDFText_GetLooseCharBox(raw, index, at_box)
        pdfium.FPDFText_GetCharOrigin(raw, index, at_x, at_y)
        return box.left, box.right, y.value, box.top - box.bottom

    runs: list[Run] = []
    run: Run | None = None
    text = _characters(raw)
    by_letter = bool(RTL_LETTER.search(text))
    for word in _PIECE.finditer(text):
        if not (signs := word[0].replace("\0", "")) or signs.isspace():
            if run is not None and signs:
                run.cells.append((" ", run.right, run.right))
            run = None if "\n" in signs else run
            continue
        start, end = word.span()
        pieces = [(start, end)]
        first = measured(start)
        last = measured(end - 1) if end - start > 1 else first
        # The letters of a word are of one size if the first and the last are.
        if by_letter or abs(first[2] - last[2]) > 0.1 * last[3]:
            pieces = [(at, at + 1) for at in range(start, end)]
        for at, stop in pieces:
            left, right, base, height = first if at == start else measured(at)
            right = last[1] if stop == end else right
            if run is not None and not run.turned:
                shifted = abs(base - run.base) > 0.12 * max(height, run.height)
                if shifted or run.gap(left, right) > _CELL_GAP * run.height:
                    run = None
            if run is None:
                angle = math.degrees(pdfium.FPDFText_GetCharAngle(raw, at))
                run = Run(base, height, turned=abs(math.remainder(angle, 360)) > 20)
                runs.append(run)
            run.height = max(run.height, height)
            run.add([(text[at:stop], left, right)], left, right)
    content.close()
    return runs


def _characters(raw: Any) -> str:
    """The characters of a page by their numbers, without those that are not to be read."""
    count = pdfium.FPDFText_CountChars(raw)
    buffer = ctypes.create_string_buffer(2 * count + 2)
    pdfium.FPDFText_GetText(raw, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    text = buffer.raw[:-2].decode("utf-16-le", "surrogatepass")
    if len(text) != count or "\0" in text:
        text = "".join(chr(pdfium.FPDFText_GetUnicode(raw, index)) for index in range(count))
    return text.translate(_CONTROLS)


def word_gap(before: str, after: str) -> float:
    """The gap between two words, which scripts without spaces have only beside others."""
    return 0.5 if _UNSPACED.match(before[-1:]) and _UNSPACED.match(after) else _WORD_GAP


def _with_scripts(runs: Sequence[Run]) -> Iterator[Run]:
    """The runs, with what is small and raised or lowered beside another written into it."""
    held: list[Run] = []
    for run in runs:
        before = held[-1] if held else None
        if before and _is_script(before, run) and -0.2 * run.height < run.left - before.right < 0.6 * run.height:
            held.pop()
            run.cells.insert(0, (f"{_script('', before)} ", before.left, before.right))
            run.left = before.left
        near = (earlier for earlier in held[:-5:-1] if abs(run.left - earlier.right) < 0.4 * earlier.height)
        if host := next((earlier for earlier in near if _is_script(run, earlier)), None):
            while host.cells[-1][0] == " ":
                host.cells.pop()
            text = _script(_plain(host, last=24), run, raised=run.base > host.base)
            host.add([(text, run.left, run.right)], run.left, run.right)
        else:
            held.append(run)
    yield from held


def _is_script(run: Run, host: Run) -> bool:
    shift = (run.base - host.base) / (host.height or 1)
    return run.height < 0.85 * host.height and (0.12 < shift < 0.8 or -0.5 < shift < -0.05) and len(run.cells) <= 12


def _script(host: str, run: Run, *, raised: bool = True) -> str:
    """A raised or lowered text as it is written on the line: `[3]`, `10^6`, `m²`, `19th`, `H2O`."""
    text = _plain(run).strip()
    return html_marks.raised(text, host) if raised else text


def _plain(run: Run, last: int = 0) -> str:
    return "".join(text for text, _, _ in run.cells[-last:])


def _text(run: Run) -> str:
    text = _plain(run)
    if not RTL_LETTER.search(text):
        return " ".join(text.split())
    cells: list[tuple[str, float, float]] = []
    for edges, same in groupby(run.cells, key=lambda cell: cell[1:]):
        letters = [cell[0] for cell in same]
        # The letters of a ligature have one place; PDFium gives them backwards unless it resolves the ligature itself.
        if RTL_LETTER.match(letters[0]) and not _LAM_ALEF.match("".join(letters)):
            letters.reverse()
        cells.append(("".join(letters), *edges))
    if run.turned or len(RTL_LETTER.findall(text)) < len(_LATIN.findall(text)):
        return " ".join("".join(cell[0] for cell in cells).split())
    return _right_to_left(cells, run.height)


def _right_to_left(cells: Sequence[tuple[str, float, float]], height: float) -> str:
    """A line in logical order: from right to left, with what is left-to-right in it turned back."""
    line, edge = "", math.inf
    # The file's own spaces are left aside: where they stand depends on the direction in which words were drawn.
    letters = sorted((cell for cell in cells if cell[0] != " "), key=lambda cell: -cell[1] - cell[2])
    for text, left, right in letters:
        line += f" {text}" if edge < math.inf and edge - right > _RTL_WORD_GAP * height else text
        edge = left
    parts = _LEFT_TO_RIGHT.split(line)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = part.translate(_OPENING)
        elif _LATIN.search(part):
            parts[index] = part[::-1]
        else:
            parts[index] = _NUMBER.sub(lambda match: match[0][::-1], part)
    # PDFium mirrors some brackets and not others: the first of a pair opens it.
    opened: Counter[str] = Counter()
    for index in range(0, len(parts), 2):
        signs = list(parts[index])
        for position, letter in enumerate(signs):
            if closing := _CLOSING.get(letter):
                opened[letter] += 1
                signs[position] = letter if opened[letter] % 2 else closing
        parts[index] = "".join(signs)
    return " ".join("".join(parts).split())
