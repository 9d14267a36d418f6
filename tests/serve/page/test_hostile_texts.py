"""Text in titles, quotes, questions, file names and answers never becomes markup, in no page and no file."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from urllib.parse import quote as url_quoted

import pytest

from fakes.running_server import CORPUS, RunningServer
from fakes.sample_answers import ANSWERED, CITATION, FACT, HOP, steps_to
from iterative_rag.serve.page.articles import article_view
from iterative_rag.storage.trace import Trace, event_name, trace_folder
from iterative_rag.types import ConfidenceWord, Document, FinalStep, Status, UnreadDocument
from tests.serve.page.marked_text import HtmlText

HOSTILE = [
    "<script>alert(1)</script>",
    '"><script>alert(1)</script>',
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "</option></select><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<style>*{display:none}</style>",
    "<a href=javascript:alert(1)>x</a>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "[x](javascript:alert(1)) [y](data:text/html,x)",
    '" onmouseover=alert(1) x="',
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    "\u202e evil \u2066 text \x1b[2J \x00 \u2028",
    "<<script>script>alert(1)<</script>/script>",
]


class Skeleton(HTMLParser):
    """The elements of a page, and whatever in it could act."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.acting: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(" ".join([tag, *sorted(name for name, _ in attrs)]))
        named = dict(attrs)
        address = str(named.get("href") or named.get("src") or named.get("action") or "")
        own = tag != "script" or address.startswith("/static/") or named.get("type") == "application/json"
        if not own or ":" in address.split("/", 1)[0].split("?", 1)[0]:
            self.acting.append(f"{tag} {address}")
        self.acting += [f"{tag} {name}" for name in named if name.startswith("on") or name == "style"]

    def handle_comment(self, data: str) -> None:
        self.elements.append("comment")


def leave(run_id: str, text: str, *, ending: str = "", status: Status = Status.ANSWERED) -> None:
    """The trace of a run in which everything that others write says `text`, and what says how it ended `ending`."""
    ending = ending or text
    fact = dataclasses.replace(FACT, statement=text, quote=text, value=text, title=text, source=f"/home/x/{text}")
    hop = dataclasses.replace(HOP, question=text, needs=(text,), shortlist=(text,), facts=(fact,), rephrased=text)
    cited = dataclasses.replace(CITATION, title=text, source=f"/home/x/{text}", quote=text, display=text)
    answer = dataclasses.replace(
        ANSWERED,
        question=text,
        text=f"{text} [1]",
        short_answer=text,
        status=status,
        reason=ending,
        corpus_notice=ending,
        unread=(UnreadDocument(text, text, text, ending),),
        citations=(cited,),
        hops=(hop,),
        also=(text,),
        caveats=(text,),
        confidence_word=ConfidenceWord.LIKELY,
        run_id=run_id,
        settings={"corpus": CORPUS},
    )
    trace = Trace(run_id, [], trace_folder() / f"{run_id}.jsonl")
    started = {"run_id": run_id, "question": text, "strategy": text, "backend": f"model@{ending}"}
    trace.write("run_started", **started, settings={"corpus": CORPUS}, revises={"run_id": text, "change": text})
    for step in steps_to(answer):
        said = dataclasses.asdict(FinalStep(answer) if isinstance(step, FinalStep) else step)
        trace.write(event_name(type(step)), **(said | {"question": text} if "question" in said else said))
    trace.close()


PAGES = ("/runs/{id}", "/runs/{id}/hops", "/runs/{id}/quotes/1", "/runs/{id}/proof.html")


def pages(served: RunningServer, number: int, text: str) -> dict[str, Skeleton]:
    run_id = f"20250131-1425{number:02d}-3fa9c1"
    leave(run_id, text)
    said = url_quoted(text)
    others = (f"/?question={said}&corpus={said}", f"/corpora/{CORPUS}?q={said}", f"/corpora/{CORPUS}?title={said}")
    found = {}
    with served.client() as client:
        for address in (*PAGES, *others, "/history", f"/history?q={said}"):
            response = client.get(address.format(id=run_id))
            assert response.status_code == 200, (address, response.text[-400:])
            found[address.replace(said, "")] = Skeleton(response.text)
    (trace_folder() / f"{run_id}.jsonl").unlink()
    return found


@pytest.mark.parametrize("slice_of", [range(4), pytest.param(range(4, len(HOSTILE)), marks=pytest.mark.nightly)])
def test_hostile_text_does_not_change_a_page(served: RunningServer, slice_of: range) -> None:
    plain = pages(served, 99, "A town named Aldermere")
    known = {element for page in plain.values() for element in page.elements} | {"code", "details", "summary"}
    for number in slice_of:
        text = HOSTILE[number]
        for address, page in pages(served, number, text).items():
            assert page.acting == [], (address, text)
            assert set(page.elements) <= known, (address, text)


def test_no_error_page_and_no_form_that_is_shown_again_holds_markup(served: RunningServer) -> None:
    with served.client() as client:
        for text in HOSTILE:
            shown = [client.get(f"/{place}/{url_quoted(text, safe='')}") for place in ("runs", "corpora")]
            fields = ("question", "corpus", "backend", "strategy", "max_hops")
            shown.append(client.post("/ask", data=dict.fromkeys(fields, text)))
            assert {response.status_code for response in shown} <= {400, 404}
            assert [acting for response in shown for acting in Skeleton(response.text).acting] == []


ARTICLES = [
    *HOSTILE,
    "[a](javascript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](vbscript:x) [b](file:///etc/passwd) [c](data:text/html;base64,x)",
    "[a](//evil.example) [b](/runs/x/stop) [c](#quote)",
    "![x](https://evil.example/p.png) ![y](javascript:x)",
    '![x](x" onerror="alert(1))',
    '[x](https://example.org/" onmouseover="alert(1))',
    "```html\n<script>alert(1)</script>\n```",
    '```" onload="x\ncode\n```',
    "| <script>x</script> | b |\n|---|:-:|\n| <img src=x onerror=y> | [z](javascript:x) |",
    "[a]: javascript:alert(1)\n\n[a] and [a][a]",
    "# <a id=quote>x</a>\n\n<mark id=quote>forged</mark>",
    "\U000f0000\U000f0001 private \U0010fffd characters",
]


@pytest.mark.parametrize("text", ARTICLES)
def test_an_article_holds_nothing_that_acts(text: str) -> None:
    whole = f"Before it.\n\n{text}\n\nAfter the words."
    for name in ("a.md", "a.pdf", "a.txt"):
        pages = (0, 12) if name == "a.pdf" else ()
        document = Document("d", text, whole, name, pages=pages)
        for start, end in ((0, 0), (0, len(whole)), (12, 12 + len(text))):
            assert HtmlText(article_view(document, start, end).html).suspect == []


def test_no_page_and_no_file_names_a_server_or_a_folder(served: RunningServer) -> None:
    """The ending of an answer quotes errors, which name both; the name of a model holds the address of its server."""
    run_id, kept = "20250131-142599-3fa9c1", ("answer.md", "answer.json")
    ending = "No reply from http://10.0.0.7:11434/api, see /srv/secret/models.log"
    for status in (Status.ABSTAINED, Status.ANSWERED):
        leave(run_id, "A town", ending=ending, status=status)
        with served.client() as client:
            for address in (*PAGES, *(f"/runs/{{id}}/{name}" for name in kept), "/history"):
                told = client.get(address.format(id=run_id))
                assert told.status_code == 200, (address, told.text)
                assert not re.search(r"10\.0\.0\.7|secret", told.text), (address, told.text)
    (trace_folder() / f"{run_id}.jsonl").unlink()
