"""A proof drawn as SVG, in rows from the question down to the answer (Sugiyama's method): a link over several rows
passes through a gap that is left for it in each of them, so that no link crosses a box.

It carries classes and no styles, which the page around it gives; all text in it is escaped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from unicodedata import east_asian_width

from iterative_rag.app.proof.proof_graph import NodeKind, ProofGraph, ProofLink, ProofNode, Standing
from iterative_rag.text.control_characters import one_line

BOX_WIDTH = 252
LINE_HEIGHT = 19
PADDING = 12
CAPTION_HEIGHT = 18
_GAP, _ROW_GAP, _LANE, _MARGIN = 28, 36, 20, 10
_MOST_IN_ROW = 4
_MOST_LINES = 4
_NARROW, _WIDE = set("iljtfr.,:;'|!()[] I1"), set("mwMWQO@%&—")
_SWEEPS = 4
_BOLD = (NodeKind.FACT, NodeKind.COMPUTATION, NodeKind.ANSWER)


@dataclass(frozen=True, slots=True)
class Box:
    """A node in its place: its upper left corner, its height, and its text in lines. The unit is one CSS pixel."""

    node: ProofNode
    x: float
    y: float
    height: float
    caption: str
    lines: tuple[str, ...]


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes, and each link with the points that it passes."""

    boxes: tuple[Box, ...]
    links: tuple[tuple[ProofLink, Points], ...]
    width: float
    height: float


def layout(graph: ProofGraph) -> Layout:
    rows = _rows(graph.nodes)
    row_of = {node.id: n for n, row in enumerate(rows) for node in row}
    cells = [[node.id for node in row] for row in rows]
    chains: list[tuple[ProofLink, list[str]]] = []
    for number, link in enumerate(graph.links):
        above, below = row_of[link.source], row_of[link.target]
        lanes = [f"lane-{number}-{row}" for row in range(above + 1, below)]
        for row, lane in zip(range(above + 1, below), lanes, strict=True):
            cells[row].append(lane)
        chains.append((link, [link.source, *lanes, link.target]))
    _untangle(cells, chains)
    return _placed(graph.nodes, cells, chains)


def wrapped(text: str, width: float, most: int) -> tuple[str, ...]:
    """The text in lines of at most `width` pixels at 14 pixels, the last one cut off after a word where there are
    more."""
    lines, line = [], ""
    for word in text.split():
        for piece in _pieces(word, width):
            joined = f"{line} {piece}" if line else piece
            if _width(joined) <= width:
                line = joined
            else:
                lines.append(line)
                line = piece
    lines.append(line)
    if len(lines) > most:
        last = lines[most - 1]
        while last and _width(last + " …") > width:
            last = last.rpartition(" ")[0] or last[:-1]
        lines = [*lines[: most - 1], last.rstrip() + " …"]
    return tuple(line for line in lines if line)


def _pieces(word: str, width: float) -> Iterable[str]:
    """A word, cut where it is longer than a line."""
    while word and _width(word) > width:
        size = max(1, int(width // 9))
        yield word[:size]
        word = word[size:]
    if word:
        yield word


def _width(text: str) -> float:
    return sum(
        14 if east_asian_width(char) in "WF" else 5.4 if char in _NARROW else 14 if char in _WIDE else 9
        for char in text
    )


def _rows(nodes: Sequence[ProofNode]) -> list[list[ProofNode]]:
    """The nodes of each rank; a rank of many in several rows."""
    by_rank: dict[int, list[ProofNode]] = defaultdict(list)
    for node in nodes:
        by_rank[node.rank].append(node)
    rows = []
    for rank in sorted(by_rank):
        row = by_rank[rank]
        rows += [row[n : n + _MOST_IN_ROW] for n in range(0, len(row), _MOST_IN_ROW)]
    return rows


def _untangle(cells: list[list[str]], chains: Sequence[tuple[ProofLink, Sequence[str]]]) -> None:
    """Order each row by the mean place of what its cells are linked with, downwards and upwards in turn."""
    above: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for _, chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in cells if down else reversed(cells):
            positions = {cell: n / len(others) for others in cells for n, cell in enumerate(others)}
            near = above if down else below
            linked = {cell: [positions[other] for other in near[cell] or [cell]] for cell in row}
            means = {cell: sum(places) / len(places) for cell, places in linked.items()}
            row.sort(key=means.__getitem__)


def _placed(
    nodes: Sequence[ProofNode], cells: Sequence[Sequence[str]], chains: Sequence[tuple[ProofLink, Sequence[str]]]
) -> Layout:
    by_id = {node.id: node for node in nodes}
    widths = [sum(BOX_WIDTH if cell in by_id else _LANE for cell in row) + _GAP * (len(row) - 1) for row in cells]
    width = max(widths) + 2 * _MARGIN
    boxes: dict[str, Box] = {}
    passes: dict[str, Points] = {}  # the middle of the top and of the bottom of a cell
    y: float = _MARGIN
    for row, taken in zip(cells, widths, strict=True):
        made = {cell: _sized(by_id[cell]) for cell in row if cell in by_id}
        height = max(box.height for box in made.values())
        x = (width - taken) / 2
        for cell in row:
            size, bottom = _LANE, y + height
            if cell in made:
                boxes[cell] = replace(made[cell], x=x, y=y)
                size, bottom = BOX_WIDTH, y + made[cell].height
            passes[cell] = (x + size / 2, y), (x + size / 2, bottom)
            x += size + _GAP
        y += height + _ROW_GAP
    # A link begins below its first cell, passes the others from top to bottom, and ends above the last one.
    drawn = tuple((link, [point for cell in chain for point in passes[cell]][1:-1]) for link, chain in chains)
    return Layout(tuple(boxes[node.id] for node in nodes), drawn, width, y - _ROW_GAP + _MARGIN)


def _sized(node: ProofNode) -> Box:
    inner = BOX_WIDTH - 2 * PADDING
    lines = wrapped(node.text, inner if node.kind in _BOLD else inner * 1.08, _MOST_LINES)
    caption = "".join(wrapped(node.caption or node.kind.label, inner * 1.25, 1))
    height = 2 * PADDING + CAPTION_HEIGHT + LINE_HEIGHT * len(lines)
    return Box(node, 0, 0, height, caption, lines)


Href = Callable[[ProofNode], str]
_ARROW = 7
_ROUND = 10  # the radius of a corner


def graph_svg(graph: ProofGraph, href: Href = lambda node: "") -> str:
    """`href` says where the link of a box leads, "" for none."""
    placed = layout(graph)
    title = "The way from the question to the answer"
    description = f"{len(graph.nodes)} boxes, read from top to bottom; the same follows as a list."
    parts = [
        f'<svg class="proof-graph" viewBox="0 0 {placed.width:g} {placed.height:g}" width="{placed.width:g}" '
        f'height="{placed.height:g}" role="group" aria-labelledby="graph-title graph-description">',
        f'<title id="graph-title">{title}</title><desc id="graph-description">{description}</desc>',
        *(_link(link, points) for link, points in placed.links),
        *(_box(box, href(box.node)) for box in placed.boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def words(graph: ProofGraph, node: ProofNode) -> str:
    """How firm the links to a node are, in words; "" where all are firm."""
    doubts = {link.standing for link in graph.into(node)} - {Standing.FIRM}
    return "; ".join(standing.explanation for standing in Standing if standing in doubts)


def _link(link: ProofLink, points: Points) -> str:
    standing = link.standing
    x, y = points[-1]
    arrow = f"M{x:g} {y:g}l{-_ARROW / 1.6:g} {-_ARROW:g}h{_ARROW * 1.25:g}z"
    middle = [(begin + end) / 2 for begin, end in zip(*points[:2], strict=True)]
    cross = (
        f'<path class="cross" d="M{middle[0] - 5:g} {middle[1] - 5:g}l10 10m0 -10l-10 10"/>'
        if standing is Standing.CONTRADICTED and link.target == "answer"
        else ""
    )
    return (
        f'<g class="link {standing}"><title>{escape(standing.explanation)}</title>'
        f'<path class="line" d="{_curve(points)}"/><path class="arrow" d="{arrow}"/>{cross}</g>'
    )


def _curve(points: Points) -> str:
    """Bends between rows; straight down beside the boxes of a row."""
    (x, y), *rest = points
    path = f"M{x:g} {y:g}"
    for to_x, to_y in rest:
        half = (y + to_y) / 2
        path += f"V{to_y:g}" if x == to_x else f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    return path


def _box(box: Box, address: str) -> str:
    node = box.node
    text_x, first = box.x + PADDING, box.y + PADDING + 11
    lines = [f'<text class="caption" x="{text_x:g}" y="{first:g}">{_text(box.caption)}</text>']
    for n, line in enumerate(box.lines):
        y = first + CAPTION_HEIGHT + 2 + n * LINE_HEIGHT
        lines.append(f'<text class="said" x="{text_x:g}" y="{y:g}">{_text(line)}</text>')
    whole = one_line(f"{node.kind.label}: {node.text}")
    drawn = (
        f'<rect class="box" x="{box.x:g}" y="{box.y:g}" width="{BOX_WIDTH}" height="{box.height:g}" rx="{_ROUND}"/>'
        f'<path class="edge" d="{_left_edge(box)}"/>{" ".join(lines)}'
    )
    if address:
        drawn = f'<a href="{escape(address)}">{drawn}</a>'
    return f'<g class="node {node.kind}" data-node="{escape(node.id)}"><title>{escape(whole)}</title>{drawn}</g>'


def _left_edge(box: Box) -> str:
    """Along the left side of a box, from one rounded corner to the other."""
    x, y, inner = box.x + 1, box.y + _ROUND / 2, box.height - 3 * _ROUND
    return f"M{x + 1:g} {y:g}q-1 {_ROUND / 2:g} -1 {_ROUND:g}v{inner:g}q0 {_ROUND / 2:g} 1 {_ROUND:g}"


def _text(text: str) -> str:
    return escape(one_line(text), quote=False)
