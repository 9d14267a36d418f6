"""A report as one self-contained HTML page: no network, no library, readable without script, printable.

Documents, questions and answers are untrusted: the template escapes everything, marks that reverse the direction of
text are replaced, and a content security policy lets nothing run but the page's own script, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import MissingExtra
from iterative_rag.evaluation import report_tables
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.evaluation.report_tables import Report, notes, what_was_run
from iterative_rag.evaluation.summary import cited, gave_facts, listed, read
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.plurals import counted
from iterative_rag.types.documents import web_link

if TYPE_CHECKING:
    from jinja2 import Template

LARGEST = 2_000_000  # bytes of a page that a phone still scrolls
_LONGEST = 1500  # characters of any text on the page


def html(report: Report) -> str:
    """The page; without hops, saying so, where it would have more than LARGEST bytes with them.

    Raises MissingExtra without jinja2.
    """
    from markupsafe import Markup

    # Our own style sheet and script are not escaped.
    style, script = Markup(_own("page.css")), Markup(_own("page.js"))
    values: dict[str, Any] = {
        "report": report,
        "questions": [(record, report_tables.result(record), _needed(record)) for record in report.run.records],
        "tables": report_tables.tables(report),
        "outcomes": report.outcomes(),
        "protocol": what_was_run(report.run.manifest, report.summary),
        "notes": notes(report.run.manifest, report.summary),
        "policy": _policy(style, script),
        "style": style,
        "script": script,
    }
    page = _template().render(**values, with_hops=True)
    return page if len(page.encode()) <= LARGEST else _template().render(**values, with_hops=False)


def _needed(record: QuestionRecord) -> list[tuple[str, str]]:
    """The needed articles and how far each got."""
    stages = (
        ("cited", cited(record)),
        ("gave a fact, not cited", gave_facts(record)),
        ("read, gave no fact", read(record)),
        ("shortlisted, not read", listed(record)),
    )
    return [
        *(
            (
                record.documents.get(needed, needed),
                next((name for name, documents in stages if needed in documents), "never shortlisted"),
            )
            for needed in record.gold
        ),
        *((title, "not in the corpus") for title in record.missing_gold),
    ]


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
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": report_tables.percent,
        "percent_range": report_tables.percent_range,
        "number": report_tables.number,
        "count": counted,
        "web_link": web_link,
    }
    environment.globals["results"] = report_tables.RESULTS
    return environment.get_template("page.html.jinja")


def _shown(value: object) -> object:
    """What the template writes: every text on one line, cut, with what cannot or must not be shown replaced."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    line = one_line(value)
    return line if len(line) <= _LONGEST else line[:_LONGEST].rstrip() + "…"


def _own(name: str) -> str:
    return resources.files("iterative_rag.evaluation").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A content security policy that loads and sends nothing, and allows only these two texts."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
