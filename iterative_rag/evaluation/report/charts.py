"""Charts as SVG: no library, no script, no network; colours come from the page's style sheet by class.

The charts in table rows use percent coordinates instead of a view box: they are as wide as their cell, and neither
lines nor text are stretched. Labels stand beside them as text of the table, so that they wrap and can be read aloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from iterative_rag.evaluation.report.formatting import percent, percent_range
from iterative_rag.text.plurals import counted

_TICKS = (0, 25, 50, 75, 100)
_ROW = 24  # pixels
_SIDE, _LEFT, _FOOT = 264, 46, 34  # of the calibration chart's square, in pixels


def _svg(content: str, label: str, size: str, kind: str) -> Markup:
    opening = Markup('<svg class="{}" role="img" aria-label="{}" {}>').format(kind, label, Markup(size))
    return opening + Markup(content) + Markup("</svg>")


def whisker(value: float | None, interval: Sequence[float] | None) -> Markup:
    """A share as a dot with its interval as a line, on a scale from 0 to 100 %."""
    parts = [f'<line class="grid" x1="{tick}%" x2="{tick}%" y1="0" y2="{_ROW}"/>' for tick in _TICKS]
    middle = _ROW // 2
    if interval is not None:
        low, high = (100 * edge for edge in interval)
        parts.append(f'<line class="range" x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}"/>')
    if value is not None:
        parts.append(f'<circle class="dot" cx="{100 * value:.2f}%" cy="{middle}" r="5"/>')
    label = f"{percent(value)}, interval {percent_range(interval)}"
    return _svg("".join(parts), label, f'width="100%" height="{_ROW}"', "row")


def bar(share: float, kind: str = "") -> Markup:
    """A share as a bar, on a scale from 0 to 100 %. `kind` is a class of the style sheet."""
    content = Markup('<rect class="track" width="100%" height="10" y="7" rx="5"/>')
    if share > 0:
        content += Markup('<rect class="bar {}" width="{:.2f}%" height="10" y="7" rx="5"/>').format(kind, 100 * share)
    return _svg(content, percent(share), f'width="100%" height="{_ROW}"', "row")


def axis() -> Markup:
    """The scale above a column of whiskers."""
    anchors = {0: "start", 100: "end"}
    parts = [
        f'<text class="tick" x="{tick}%" y="12" text-anchor="{anchors.get(tick, "middle")}">{tick}</text>'
        for tick in _TICKS
    ]
    return _svg("".join(parts), "scale from 0 to 100 percent", 'width="100%" height="16"', "row")


def strip(parts: Sequence[tuple[str, str, int]]) -> Markup:
    """Counts as one bar: class, label and count of each part."""
    total = sum(amount for _, _, amount in parts) or 1
    content, at = Markup(""), 0.0
    for kind, label, amount in parts:
        if amount:
            width = 100 * amount / total
            content += Markup(
                '<rect class="{}" x="{:.3f}%" width="{:.3f}%" height="100%"><title>{}</title></rect>'
            ).format(kind, at, width, f"{label}: {amount}")
            at += width
    label = ", ".join(f"{label} {amount}" for _, label, amount in parts if amount)
    return _svg(content, label, 'width="100%" height="18"', "strip")


def reliability(bins: Sequence[Mapping[str, Any]]) -> Markup:
    """Confidence against accuracy (a reliability diagram): on the diagonal an answer is as sure as it should be.

    Each bin is a dot, the larger the more answers it holds; its line to the diagonal is what is wrong with it.
    """
    width, height = _LEFT + _SIDE + 8, _SIDE + _FOOT + 8
    parts = [Markup('<rect class="frame" x="{}" y="8" width="{}" height="{}"/>').format(_LEFT, _SIDE, _SIDE)]
    for tick in _TICKS:
        across, up = _LEFT + _SIDE * tick / 100, 8 + _SIDE * (1 - tick / 100)
        parts += [
            Markup('<line class="grid" x1="{0}" x2="{0}" y1="8" y2="{1}"/>').format(across, 8 + _SIDE),
            Markup('<line class="grid" y1="{0}" y2="{0}" x1="{1}" x2="{2}"/>').format(up, _LEFT, _LEFT + _SIDE),
            Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(across, _SIDE + 22, tick),
            Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 6, up + 4, tick),
        ]
    parts.append(Markup('<line class="ideal" x1="{}" y1="{}" x2="{}" y2="8"/>').format(_LEFT, 8 + _SIDE, _LEFT + _SIDE))
    most = max((dot["n"] for dot in bins), default=1)
    for dot in bins:
        across, up = _LEFT + _SIDE * dot["confidence"], 8 + _SIDE * (1 - dot["right"])
        ideal = 8 + _SIDE * (1 - dot["confidence"])
        title = f"{counted(dot['n'], 'answer')}, confidence {percent(dot['confidence'])}, right {percent(dot['right'])}"
        parts += [
            Markup('<line class="gap" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>').format(across, up, ideal),
            Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}</title></circle>').format(
                across, up, 3.5 + 7 * (dot["n"] / most) ** 0.5, title
            ),
        ]
    middle, half = _LEFT + _SIDE / 2, 8 + _SIDE / 2
    parts += [
        Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">confidence in %</text>').format(
            middle, height - 4
        ),
        Markup(
            '<text class="tick" x="-{}" y="10" transform="rotate(-90)" text-anchor="middle">right in %</text>'
        ).format(half),
    ]
    label = "; ".join(f"confidence {percent(dot['confidence'])}: {percent(dot['right'])} right" for dot in bins)
    return _svg(Markup("").join(parts), label, f'viewBox="0 0 {width} {height}" width="{width}"', "square")
