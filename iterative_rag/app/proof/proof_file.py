"""One self-contained HTML file of a proof: what people read, and as data what `iterative-rag verify` checks.

The file loads nothing and runs nothing. Everything in it that comes from documents, models or users is escaped. One
digest ties its parts together: answer, chain, quotes, hashes of documents, and the page around them. It tells that they
belong together as they were made, not who made them.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from iterative_rag.app.proof.answer_export import SourceName, said_html
from iterative_rag.app.proof.graph_svg import graph_svg, words
from iterative_rag.app.proof.proof_graph import NodeKind, ProofGraph, proof_graph
from iterative_rag.errors import UsageError
from iterative_rag.storage.output import answer_to_json, marks, quote_of, remarks
from iterative_rag.text.control_characters import one_line, visible
from iterative_rag.text.text_blocks import unwrapped
from iterative_rag.types import Answer, Citation, Document

FORMAT = "iterative-rag proof"
VERSION = 2
# The document of a citation, None where it is not in the corpus any more.
DocumentOf = Callable[[Citation], Document | None]
_DATA_BEGINS, _DATA_ENDS = '<script type="application/json" id="proof-data">', "</script>"
_AROUND = 160
_TOLD_SETTINGS = ("corpus", "backend", "strategy")
_POLICY = "default-src 'none'; style-src 'sha256-{digest}'"
_HINT = "Save one from the page of an answer: iterative-rag serve"
_CHANGED = "The file was changed after the proof was made, so it proves nothing."
_STYLE = """
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font: 600 1.7rem/1.25 var(--serif); margin: 0 0 1rem; text-wrap: balance; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; }
.said { font: 1.15rem/1.55 var(--serif); max-width: 42rem; }
.said .short { font-weight: 600; }
.graph { overflow-x: auto; padding: 1rem 0; }
.quote { border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.quote { padding: 1rem 1.25rem; margin: 0 0 1rem; }
.quote h3 { font-size: 1rem; margin: 0 0 .5rem; }
.quote p { white-space: pre-wrap; font-family: var(--serif); overflow-wrap: anywhere; margin: .5rem 0; }
.soft, dl { color: var(--soft); font-size: .85rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0 0; }
dd { margin: 0; font-family: var(--mono); overflow-wrap: anywhere; }
code { font-family: var(--mono); }
"""


def content_hash(text: str) -> str:
    """The SHA-256 of a document's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def proof_data(answer: Answer, document_of: DocumentOf, *, version: str, source: SourceName) -> dict[str, Any]:
    """What can be checked: the answer, and id, hash and length of each document that it cites."""
    documents: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    for citation in answer.citations:
        document = document_of(citation)
        if document is None:
            continue
        places[str(citation.n)] = document.id
        documents[document.id] = {
            "id": document.id,
            "title": document.title,
            "source": source(document.source),
            "url": document.link,
            "characters": len(document.text),
            "sha256": content_hash(document.text),
        }
    told = answer_to_json(answer, version=version)
    told["settings"] = {name: answer.settings.get(name) for name in _TOLD_SETTINGS}
    told["run_id"] = answer.run_id
    data = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"iterative-rag {version}",
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "corpus": str(answer.settings.get("corpus", "")),
        "documents": list(documents.values()),
        "cited_documents": places,
        "answer": _named(told, source),
    }
    return data | {"digest": _digest(data)}


def proof_json(answer: Answer, document_of: DocumentOf, *, version: str, source: SourceName) -> dict[str, Any]:
    """The answer as `answer.schema.json` describes it, with the rest of its proof in a field of its own."""
    data = proof_data(answer, document_of, version=version, source=source)
    told: dict[str, Any] = data.pop("answer")
    return told | {"proof": data}


def proof_html(
    answer: Answer, document_of: DocumentOf = lambda citation: None, *, version: str, source: SourceName
) -> str:
    """The file: graph, answer, each quote in its surroundings with offsets and hash, and the data of all of it."""
    data = proof_data(answer, document_of, version=version, source=source)
    style = stylesheet() + _STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    graph = proof_graph(answer)
    drawn = graph_svg(graph, lambda node: f"#quote-{node.citation}" if node.citation else "")
    before = "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest=digest)}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{_text(answer.question)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>",
            f"<h1>{_text(answer.question)}</h1>",
            *_said(answer),
            "<h2>How the answer was found</h2>",
            f'<div class="graph">{drawn}</div>',
            *_in_words(graph),
            *_quotes(answer, document_of, data, source),
            f'<p class="soft">Made by {_text(data["made_by"])} on {_text(data["made_at"])}. '
            "Check it against a corpus: <code>iterative-rag verify FILE</code></p>",
            f"</main>\n{_DATA_BEGINS}",
        ]
    )
    after = f"{_DATA_ENDS}\n</body>\n</html>\n"
    data["page"] = content_hash(f"{before}{after}")
    data["digest"] = _digest(data)
    # "<" cannot occur in the data, so nothing in it ends the element.
    return before + json.dumps(data, ensure_ascii=True, indent=1).replace("<", "\\u003c") + after


@cache
def stylesheet() -> str:
    """The styles of a proof."""
    return (files("iterative_rag.app.proof") / "proof.css").read_text(encoding="utf-8")


def read_proof(text: str) -> dict[str, Any]:
    """The data of a proof file, HTML or JSON, made by anybody. Raises UsageError, also where it was changed since."""
    page = ""
    if not text.lstrip().startswith("{"):
        before, begins, rest = text.partition(_DATA_BEGINS)
        text, ends, after = rest.partition(_DATA_ENDS)
        page = content_hash(before + begins + ends + after)
    try:
        data = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise UsageError("The file holds no proof.", hint=_HINT) from error
    data = sealed(data)
    if data.get("page", "") != page:
        raise UsageError(_CHANGED, hint=_HINT)
    return data


def sealed(data: object) -> dict[str, Any]:
    """The data, if it is that of a proof as it was made. Raises UsageError."""
    if isinstance(data, dict) and isinstance(data.get("proof"), dict):
        data = data["proof"] | {"answer": {name: value for name, value in data.items() if name != "proof"}}
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        answer = isinstance(data, dict) and {"question", "answer", "citations"} <= data.keys()
        what = "The file holds an answer without its proof." if answer else "The file holds no proof."
        raise UsageError(what, hint=_HINT)
    if data.get("version") != VERSION:
        made_by = str(data.get("made_by", "another program"))[:40]
        raise UsageError(
            f"The proof was made by {made_by} in the format {str(data.get('version'))[:20]}; this version checks the "
            f"format {VERSION}.",
            hint="Save it again from the page of the answer, or check it with the version that made it.",
        )
    if data.get("digest") != _digest(data):
        raise UsageError(_CHANGED, hint=_HINT)
    return data


def _digest(data: Mapping[str, Any]) -> str:
    """Of all that a proof holds, in whatever order and layout it was written."""
    rest = {name: value for name, value in data.items() if name != "digest"}
    return content_hash(json.dumps(rest, sort_keys=True, separators=(",", ":")))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands twice, other programs read the other value."""
    if len(made := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return made


def _named(value: Any, source: SourceName, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _named(entry, source, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [_named(entry, source, key) for entry in value]
    return source(value) if isinstance(value, str) and key in ("source", "copies") else value


def _said(answer: Answer) -> Iterator[str]:
    yield from ('<div class="said">', *said_html(answer), "</div>")
    yield from (f"<p>{_text(told)}</p>" for told in remarks(answer))
    told = [f"confidence: {answer.confidence_word}"] if answer.confidence_word else []
    told += [f"{name}: {answer.settings[name]}" for name in _TOLD_SETTINGS if name in answer.settings]
    yield f'<p class="soft">{_text(" · ".join(told))}</p>'


def _in_words(graph: ProofGraph) -> Iterator[str]:
    yield '<h2>The same in words</h2>\n<ol class="chain">'
    for node in graph.nodes:
        doubt = words(graph, node)
        about = f"{node.kind.label}{f', {node.caption}' if node.kind is NodeKind.FACT else ''}"
        yield f"<li><strong>{_text(about)}:</strong> {_text(node.text)}{f' ({_text(doubt)})' if doubt else ''}</li>"
    yield "</ol>"


def _quotes(answer: Answer, document_of: DocumentOf, data: Mapping[str, Any], source: SourceName) -> Iterator[str]:
    hashes = {document["id"]: document["sha256"] for document in data["documents"]}
    for heading, citations in (("Quotes", answer.citations), ("What comes nearest", answer.nearest)):
        if citations:
            yield f"<h2>{heading}</h2>"
        for citation in citations:
            document = document_of(citation)
            yield f'<section class="quote" id="quote-{citation.n}">'
            title = _text(citation.title)
            if citation.link:
                title = f'<a href="{escape(citation.link)}" rel="noopener noreferrer">{title}</a>'
            yield f"<h3>{marks([citation.n])} {title}</h3>"
            yield f"<p>{_in_context(citation, document)}</p>"
            rows = {
                "source": source(citation.source),
                "characters": f"{citation.start}–{citation.end}",
                "page": str(citation.page or ""),
                "of": citation.date,
                "sha256": hashes.get(document.id, "") if document else "not in the corpus any more" if hashes else "",
            }
            told = "".join(f"<dt>{name}</dt><dd>{_text(value)}</dd>" for name, value in rows.items() if value)
            yield f"<dl>{told}</dl></section>"


def _in_context(citation: Citation, document: Document | None) -> str:
    """The quote as it stands in the document, with what is around it."""
    if document is None or document.text[citation.start : citation.end] != citation.quote:
        return f"<mark>{escape(visible(quote_of(citation)))}</mark>"
    text, start, end = document.text, citation.start, citation.end
    text = unwrapped(text) if document.pages else text
    parts = text[max(0, start - _AROUND) : start], text[start:end], text[end : end + _AROUND]
    before, quote, after = (escape(visible(part)) for part in parts)
    before = f"… {before}" if start > _AROUND else before
    after = f"{after} …" if end + _AROUND < len(text) else after
    return f"{before}<mark>{quote}</mark>{after}"


def _text(text: str) -> str:
    return escape(one_line(str(text)))
