"""Reports over constructed records, and what a browser would see of their page."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

from fakes.evaluation_records import cited, folder, record
from iterative_rag.evaluation.records import Cause, FoundFact, Hop, JudgeVerdict, QuestionRecord
from iterative_rag.evaluation.report.report_tables import Report


def report_of(records: Sequence[QuestionRecord], **manifest: Any) -> Report:
    run = folder(records, **manifest)
    return Report.of(run)


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside of script and style."""

    VOID = frozenset({"meta", "link", "img", "input", "br", "col", "hr"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.parts: list[str] = []
        self.raw: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a beginning"
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + text
        else:
            self.parts.append(text)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]


def full(question: str = "a", text: str = "words") -> QuestionRecord:
    """A record that has everything, with `text` in every field that comes from outside."""
    found = FoundFact(text, text, text, f"{text} quoted", text, "x")
    return record(
        question,
        False,
        answers=(text,),
        types=(text,),
        gold=("x", "y"),
        missing_gold=(text,),
        hops=(Hop(1, text, (text,), ("x", "z"), ("x",), (found,), text), Hop(2, text)),
        documents={"x": text, "y": text, "z": text},
        citations=cited("x", verified=False),
        judge=JudgeVerdict.INCORRECT,
        cause=Cause.COMPOSED_WRONGLY,
        short_answer=text,
        text=f"{text} [1]",
        reason=text,
        confidence=0.8,
        spent=(3, 100, 20, 1.5),
    )
