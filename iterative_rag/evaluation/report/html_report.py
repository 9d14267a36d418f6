"""A report as one self-contained HTML page: no network, no library, readable without script, printable.

Documents, questions and answers are untrusted: the template escapes everything, marks that reverse the direction of
text are replaced, and a content security policy lets nothing run but the page's own script, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import MissingExtra
from iterative_rag.evaluation.report import report_tables
from iterative_rag.evaluation.report.formatting import dollars, number, percent, percent_range, points, visible
from iterative_rag.evaluation.report.published_figures import differences
from iterative_rag.evaluation.report.question_details import CAPS, Caps, Shown, shown
from iterative_rag.evaluation.report.report_tables import RESULTS, Report
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from jinja2 import Template

LARGEST = 2_000_000  # bytes of a page that a phone still scrolls


def html(report: Report, *, largest: int = LARGEST) -> str:
    """The page. Hops and quotes are cut, saying so, until it has no more than `largest` bytes.

    Only a run of very many questions stays larger: each keeps its line, its answer and its scores.
    Raises MissingExtra without jinja2.
    """
    page = ""
    values = _values(report)
    for caps in CAPS:
        page = _render(values, report, caps)
        if len(page.encode()) <= largest:
            break
    return page


def _render(values: dict[str, Any], report: Report, caps: Caps) -> str:
    questions = [shown(number, record, caps) for number, record in enumerate(report.run.records, 1)]
    return _template().render(**values, questions=questions, causes=_causes(report, questions), cut=_cut(caps))


def _values(report: Report) -> dict[str, Any]:
    """The values of the page except its questions."""
    try:
        from iterative_rag.evaluation.report import charts
    except ImportError as error:
        raise MissingExtra("evaluate") from error
    style, script = _own("page.css"), _own("page.js")
    return {
        "name": visible(report.run.name),
        "manifest": report.run.manifest,
        "summary": report.summary,
        "policy": _policy(style, script),
        "style": _trusted(style),
        "script": _trusted(script),
        "charts": charts,
        "protocol": [(label, visible(value)) for label, value in report_tables.what_was_run(report)],
        "notes": [visible(note) for note in report_tables.notes(report)],
        "scores": report_tables.scores(report),
        "beside": report_tables.beside(report),
        "published": report_tables.published(report),
        "differences": [visible(line) for line in differences(report)],
        "agreement": report_tables.agreement(report),
        "groups": report_tables.groups(report),
        "outcomes": report_tables.outcomes(report),
        "evidence": report_tables.evidence(report),
        "spending": report_tables.spending(report),
        "results": RESULTS,
        "repeated": int(report.run.manifest.get("repeat", 1)) > 1,
    }


def _causes(report: Report, questions: Sequence[Shown]) -> list[tuple[str, int, float, list[Shown]]]:
    return [
        (cause, amount, share, [question for question in questions if question["cause"] == cause])
        for cause, amount, share in report_tables.causes(report)
    ]


def _cut(caps: Caps) -> str:
    """A sentence about what was left out to keep the page small; "" for nothing."""
    if caps is CAPS[0]:
        return ""
    if not caps.hops:
        return "The hops are left out to keep this page small; the run's logs hold them."
    return (
        f"To keep this page small, quotes are cut after {caps.quote} characters, and no more than {caps.facts} facts "
        f"of a hop and {caps.hops} hops of a question are shown{'' if caps.right else ', of right answers none'}; "
        "the run's logs hold everything."
    )


@cache
def _template() -> Template:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra("evaluate") from error
    environment = Environment(
        loader=FunctionLoader(_own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "percent_range": percent_range,
        "points": points,
        "number": number,
        "dollars": dollars,
        "visible": visible,
        "count": counted,
    }
    return environment.get_template("page.html.jinja")


def _own(name: str) -> str:
    return resources.files("iterative_rag.evaluation.report").joinpath(name).read_text(encoding="utf-8")


def _trusted(text: str) -> Any:
    """Our own style sheet and script, which must not be escaped."""
    from markupsafe import Markup

    return Markup(text)


def _policy(style: str, script: str) -> str:
    """A content security policy that loads and sends nothing, and allows only these two texts."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
