"""The templates of the page, and what they may use. Everything they show is escaped unless it is made as HTML here."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from html import unescape
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from iterative_rag import __version__
from iterative_rag.app.proof.answer_export import block_html
from iterative_rag.app.proof.proof_file import stylesheet
from iterative_rag.index.joint_corpus import corpus_and_id
from iterative_rag.serve.page.articles import ArticleView
from iterative_rag.serve.runs.events import public_message, public_source
from iterative_rag.serve.services import services_of
from iterative_rag.storage.output import EXTRACT, apart, around_value, quote_of, said_lines, taken_lines, told_apart
from iterative_rag.text.control_characters import one_line, visible
from iterative_rag.text.markup import plain
from iterative_rag.text.plurals import counted
from iterative_rag.text.text_blocks import text_blocks
from iterative_rag.types import Answer

_STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_FIRST_HEADING = re.compile(r"<h1[^>]*>([^<]*)</h1>\s*")
_MARK = re.compile(r"\[(\d{1,4})\]")


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page, or a part of one, as a response."""
    given = {"path": request.url.path, "read_only": services_of(request).options.read_only, **values}
    html = _environment().get_template(template).render(given)
    return HTMLResponse(html, status)


async def static(request: Request) -> Response:
    """A file of the page. Its address changes with its content, so a browser may keep it."""
    name = request.path_params["name"]
    if name not in _STATIC:
        return HTMLResponse("There is no such file.", 404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(static_file(name), media_type=_STATIC[name], headers=headers)


@cache
def static_file(name: str) -> bytes:
    """A file of the page; the style of a proof is part of that of the page."""
    content = (files("iterative_rag.serve.page") / "static" / name).read_bytes()
    return stylesheet().encode() + content if name == "page.css" else content


def answer_blocks(answer: Answer) -> list[Markup]:
    """The parts of an answer that is a text, with its numbers as links to the quotes."""
    return [Markup(block_html(block, _linked)) for block in text_blocks(answer.text) if answer.form.is_text]


def answer_lines(answer: Answer) -> list[Markup]:
    """The lines of an answer, with its value in bold and its numbers as links to the quotes."""
    return [
        _linked(before) + (Markup("<strong>{}</strong>").format(visible(value)) if value else "") + _linked(after)
        for before, value, after in (around_value(line, answer) for line in said_lines(answer))
    ]


def _article_html(view: ArticleView, title: str) -> Markup:
    """The article, which was sanitised where it was made, without a first heading that only repeats its title."""
    opening = _FIRST_HEADING.match(view.html)
    repeats = opening is not None and unescape(opening[1]).casefold() == title.casefold()
    return Markup(view.html[opening.end() :] if opening and repeats else view.html)


def _linked(text: str) -> Markup:
    parts = _MARK.split(visible(text))
    linked = Markup("")
    for n, part in enumerate(parts):
        linked += Markup(_CITE).format(n=part) if n % 2 else escape(part)
    return linked


_CITE = '<a class="cite" href="?cite={n}#article" data-cite="{n}" aria-label="Quote {n}">{n}</a>'


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("iterative_rag.serve.page"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": plain, "one_line": one_line, "source": public_source, "quote": quote_of}
    environment.filters["message"] = public_message
    environment.globals |= {
        "answer_blocks": answer_blocks,
        "answer_lines": answer_lines,
        "article_html": _article_html,
        "apart": apart,
        "asset": _asset,
        "counted": counted,
        "document_path": _document_path,
        "extract": EXTRACT,
        "taken_lines": taken_lines,
        "told_apart": told_apart,
        "version": __version__,
    }
    return environment


def _document_path(asked: str, document_id: str) -> str:
    """The page of a document; `asked` is the corpus of its run, or several between commas."""
    corpus, own = corpus_and_id(asked, document_id)
    return f"/corpora/{quote(corpus)}/documents/{quote(own)}"


def _shown(value: object) -> object:
    """Text without characters that steer a browser: directional marks could make it read otherwise."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _asset(name: str) -> str:
    return f"/static/{name}?v={hashlib.sha256(static_file(name)).hexdigest()[:10]}"
