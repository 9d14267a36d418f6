"""The constructed suite of `evaluation/corrections`: its cases, its web, and what each case must come to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

from pydantic import TypeAdapter

from fakes.loopback_server import Handler, serving
from fakes.script_view import Script, script
from iterative_rag.app.factory.web_access import make_web as factory_web
from iterative_rag.evaluation.answer_match import score
from iterative_rag.protocols import Pages, SearchEngine
from iterative_rag.settings import Settings
from iterative_rag.types import Answer, CorrectionStep, ShortlistStep, Status, Step

ROOT = Path(__file__).resolve().parents[1] / "evaluation" / "corrections"
CORPUS, WEB = ROOT / "corpus", ROOT / "web"
NAME = "corrections"
# Few documents a look-up, so that what the question's words do not find is really not found.
SETTINGS: dict[str, Any] = {"corpus": NAME, "shortlist": 3, "passages": 24, "cache": False}
# The built-in models refuse the cases in German, French and Spanish, unless told that they are English.
READ_AS_ENGLISH = {"language": "en"}
CLASSES = ["answerable", "computing", "correction", "contradiction", "false_premise", "not_in_corpus", "web"]
MUSTS = frozenset({"computation_shown", "conflict_shown", "premise_named", "missing_named", "web_cited", "corrected"})


@dataclass(frozen=True)
class Expected:
    """What must happen. `sides` are the values of a contradiction, `names` what a false premise's reason must hold."""

    status: Status
    answers: tuple[str, ...]
    must: frozenset[str]
    sides: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """`gold` are the documents and pages ("web:NAME") whose quotes prove the answer."""

    id: str
    kind: str
    lang: str
    question: str
    expect: Expected
    script: Script
    gold: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


def raw_cases() -> list[dict[str, Any]]:
    """The lines of cases.jsonl."""
    with (ROOT / "cases.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def cases() -> tuple[Case, ...]:
    return tuple(_case(line) for line in raw_cases())


def _case(line: dict[str, Any]) -> Case:
    expected = TypeAdapter(Expected).validate_python(line["expect"])
    gold = dict.fromkeys(fact["from"] for link in line["script"]["links"] for fact in link["facts"])
    return Case(line["id"], line["class"], line["lang"], line["question"], expected, script(line), tuple(gold))


def chosen(*ids: str) -> list[Case]:
    """Cases by their ids, in that order."""
    known = {case.id: case for case in cases()}
    return [known[wanted] for wanted in ids]


# --- verdicts --------------------------------------------------------------------------------


def right(case: Case, answer: Answer, *, web: bool) -> bool:
    """Whether a case ended as it must: the right answer, or an abstention where there is none to be had."""
    if abstains(case, web=web):
        return answer.status is Status.ABSTAINED
    return answer.status is Status.ANSWERED and bool(score(answer.short_answer, case.expect.answers).right)


def abstains(case: Case, *, web: bool) -> bool:
    return case.expect.status is Status.ABSTAINED or (case.kind == "web" and not web)


def failings(case: Case, answer: Answer, steps: Sequence[Step], *, web: bool) -> list[str]:
    """What a case lacks of all that must happen; nothing where it is as it must be."""
    wrong = [f"a quote that its document does not hold: {quote}" for quote in unproved(answer)]
    if not right(case, answer, web=web):
        return [f"{answer.status}: {answer.short_answer!r} {answer.reason}", *wrong]
    checked = case.expect.must
    if abstains(case, web=web):
        checked &= {"premise_named", "missing_named"}
    elif not answer.citations:
        wrong.append("no citation")
    return wrong + [must for must in sorted(checked) if not CHECKS[must](case, answer, steps)]


def unproved(answer: Answer) -> list[str]:
    """Quotes of an answer's citations that do not stand in the file that they are said to be from."""
    return [citation.quote for citation in answer.citations if citation.quote not in _text_of(citation.source)]


def unproved_answer(answer: Answer) -> bool:
    """Whether a quote of an answer is invented, or a name or number of it stands in nothing that it shows as proof."""
    proof = [answer.question, *(f"{one.title} {one.quote}" for one in answer.citations)]
    proof += [f"{one.expression} {one.result}" for one in answer.computations]
    held = set(re.findall(r"\w+", " ".join(proof).casefold()))
    named = re.findall(r"\b(?:[A-Z]\w+|\d+)\b", answer.short_answer)
    return bool(unproved(answer)) or any(word.casefold() not in held for word in named)


def _computation_shown(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    """The result of a computation is the answer, or a comparison holds that tells it; facts are named for it."""
    return any(
        one.facts
        and all(0 < n <= len(answer.citations) for n in one.facts)
        and (score(one.result, case.expect.answers).right or one.result == "true")
        for one in answer.computations
    )


def _conflict_shown(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    """One conflict has all sides, each with a citation that holds its value."""
    return any(
        all(
            any(
                _same(value, side.value) and any(value in answer.citations[n - 1].quote for n in side.facts)
                for side in conflict.sides
            )
            for value in case.expect.sides
        )
        for conflict in answer.conflicts
    )


def _same(one: str, other: str) -> bool:
    return one.casefold() in other.casefold() or other.casefold() in one.casefold()


def _premise_named(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    return all(name.casefold() in answer.reason.casefold() for name in case.expect.names)


def _missing_named(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    """The reason speaks of what was asked: it has a word of the question, or of what was looked up."""
    asked = " ".join([case.question, *(need for hop in answer.hops for need in hop.needs)])
    return any(word in answer.reason.casefold() for word in re.findall(r"\w{4,}", asked.casefold()))


def _web_cited(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    pages = {name.removeprefix("web:") for name in case.gold if name.startswith("web:")}
    return any(
        citation.retrieved and urlsplit(citation.source).path.strip("/") in pages for citation in answer.citations
    )


def _corrected(case: Case, answer: Answer, steps: Sequence[Step]) -> bool:
    """The words of the need did not list the document, other words did."""
    first = next((step for step in steps if isinstance(step, ShortlistStep)), None)
    listed = {Path(entry.source).stem for entry in first.documents} if first else set()
    corrected = {
        Path(entry.source).stem for step in steps if isinstance(step, CorrectionStep) for entry in step.documents
    }
    return bool(set(case.gold) & corrected) and not set(case.gold) & listed


CHECKS: dict[str, Callable[[Case, Answer, Sequence[Step]], bool]] = {
    "computation_shown": _computation_shown,
    "conflict_shown": _conflict_shown,
    "premise_named": _premise_named,
    "missing_named": _missing_named,
    "web_cited": _web_cited,
    "corrected": _corrected,
}


@cache
def text_of(name: str) -> str:
    """The text of a document, or of a page ("web:NAME") without its tags."""
    if name.startswith("web:"):
        page = (WEB / f"{name.removeprefix('web:')}.html").read_text(encoding="utf-8")
        return re.sub(r"<[^>]+>", "", page.partition("<body>")[2])
    return (CORPUS / f"{name}.md").read_text(encoding="utf-8")


def _text_of(source: str) -> str:
    if source.startswith("http"):
        return text_of(f"web:{urlsplit(source).path.strip('/')}")
    return text_of(Path(source).stem)


# --- the web ---------------------------------------------------------------------------------


def stand_in() -> AbstractContextManager[str]:
    """A web on loopback, "127.0.0.1:PORT": `/search` speaks SearXNG's JSON, the other paths are the pages."""
    return serving(_Handler)


@contextmanager
def open_web() -> Iterator[dict[str, Any]]:
    """The settings of a run that may ask the stand-in, whose pages are read though they are not public."""
    with stand_in() as host:

        def make_web(settings: Settings, *, allow: Collection[str] = ()) -> tuple[SearchEngine, Pages] | None:
            return factory_web(settings, allow={*allow, host})

        with patch("iterative_rag.app.factory.web_access.make_web", make_web):
            yield {"web": True, "search_engine": f"searxng@http://{host}"}


def listed(query: str) -> list[str]:
    """The names of the pages that share words with a query, most first: as poor as an engine may be."""
    wanted = _words(query)
    shared = {page.stem: len(wanted & _words(text_of(f"web:{page.stem}"))) for page in sorted(WEB.glob("*.html"))}
    return sorted((name for name in shared if shared[name] > 1), key=lambda name: -shared[name])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.casefold()))


class _Handler(Handler):
    def do_GET(self) -> None:
        address = urlsplit(self.path)
        page = WEB / f"{address.path.strip('/')}.html"
        if address.path == "/search":
            (query,) = parse_qs(address.query)["q"]
            host = self.headers["Host"]
            results = [{"title": name, "url": f"http://{host}/{name}", "content": ""} for name in listed(query)]
            self.send_json({"query": query, "results": results})
        elif page in WEB.glob("*.html"):
            self.send(page.read_bytes(), headers={"Content-Type": "text/html; charset=utf-8"})
        else:
            self.send(b"There is no such page.", 404)
