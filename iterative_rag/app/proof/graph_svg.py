"""A proof drawn as SVG. It carries classes and no styles, which the page around it gives; all text in it is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from iterative_rag.app.proof.graph_layout import BOX_WIDTH, CAPTION_HEIGHT, LINE_HEIGHT, PADDING, Box, Drawn, layout
from iterative_rag.app.proof.proof_graph import ProofGraph, ProofNode, Standing
from iterative_rag.text.control_characters import one_line

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
        *(_link(drawn) for drawn in placed.links),
        *(_box(box, href(box.node)) for box in placed.boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def words(graph: ProofGraph, node: ProofNode) -> str:
    """How firm the links to a node are, in words; "" where all are firm."""
    doubts = {link.standing for link in graph.into(node)} - {Standing.FIRM}
    return "; ".join(standing.explanation for standing in Standing if standing in doubts)


def _link(drawn: Drawn) -> str:
    standing = drawn.link.standing
    x, y = drawn.points[-1]
    arrow = f"M{x:g} {y:g}l{-_ARROW / 1.6:g} {-_ARROW:g}h{_ARROW * 1.25:g}z"
    middle = _half_way(drawn.points)
    cross = (
        f'<path class="cross" d="M{middle[0] - 5:g} {middle[1] - 5:g}l10 10m0 -10l-10 10"/>'
        if standing is Standing.CONTRADICTED and drawn.link.target == "answer"
        else ""
    )
    return (
        f'<g class="link {standing}"><title>{escape(standing.explanation)}</title>'
        f'<path class="line" d="{_curve(drawn.points)}"/><path class="arrow" d="{arrow}"/>{cross}</g>'
    )


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """Bends between rows; straight down beside the boxes of a row."""
    (x, y), *rest = points
    path = f"M{x:g} {y:g}"
    for to_x, to_y in rest:
        half = (y + to_y) / 2
        path += f"V{to_y:g}" if x == to_x else f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    return path


def _half_way(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    (x, y), (to_x, to_y) = points[:2]
    return (x + to_x) / 2, (y + to_y) / 2


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
