"""Reports over constructed records, and what a browser would see of their page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lxml.html import document_fromstring

from fakes.evaluation_records import cited, folder, record
from iterative_rag.evaluation.records import Cause, FoundFact, Hop, JudgeVerdict, QuestionRecord
from iterative_rag.evaluation.report.report_tables import Report


def report_of(records: Sequence[QuestionRecord], **manifest: Any) -> Report:
    run = folder(records, **manifest)
    return Report.of(run)


class Page:
    """What a browser would see: elements with their attributes, and the text outside of script and style."""

    def __init__(self, page: str) -> None:
        root = document_fromstring(page)
        self.elements = [(str(element.tag), dict(element.attrib)) for element in root.iter()]
        self.raw = {element.tag: element.text_content() for element in root.iter("script", "style")}
        for element in list(root.iter("script", "style")):
            element.drop_tree()
        self.text = " ".join(" ".join(root.itertext()).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        return [
            held
            for name, held in self.elements
            if name == tag and all(held.get(key) == value for key, value in attributes.items())
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
