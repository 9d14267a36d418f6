"""Constructed records and runs: what a test says, and plain values for the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml.html import document_fromstring

from iterative_rag.evaluation.inspect_task import RECORD
from iterative_rag.evaluation.records import (
    Answerability,
    Cause,
    Cited,
    FoundFact,
    Hop,
    JudgeVerdict,
    Outcome,
    QuestionRecord,
    Scores,
    Spent,
    to_json,
)
from iterative_rag.evaluation.report_tables import Report
from iterative_rag.evaluation.run_folder import LOGS, MANIFEST, RunFolder


def record(
    name: str,
    right: bool = True,
    *,
    repeat: int = 1,
    f1: float | None = None,
    judge: JudgeVerdict | None = None,
    spent: tuple[int, int, int, float] = (0, 0, 0, 0.0),
    **fields: Any,
) -> QuestionRecord:
    """An answer to the question with the id `name`. `spent`: calls, prompt tokens, completion tokens, seconds."""
    calls, prompt, completion, seconds = spent
    hit = float(right)
    scores = Scores(hit, hit if f1 is None else f1, hit, hit, judge)
    values: dict[str, Any] = {
        "id": name,
        "repeat": repeat,
        "question": f"What is {name}?",
        "answers": ("gold",),
        "kind": Answerability.ANSWERABLE,
        "types": (),
        "gold": (),
        "missing_gold": (),
        "outcome": Outcome.ANSWERED,
        "short_answer": "gold" if right else "tin",
        "spent": Spent(calls, prompt, completion, 0, seconds),
        "scores": scores,
    }
    return QuestionRecord(**(values | fields))


def abstention(name: str, kind: Answerability = Answerability.ANSWERABLE, **fields: Any) -> QuestionRecord:
    return record(name, False, kind=kind, outcome=Outcome.ABSTAINED, short_answer="", **fields)


def hop(n: int = 1, *, listed: str = "", read: str = "", facts: str = "", **fields: Any) -> Hop:
    """Documents are single letters: `listed="abc"`."""
    found = tuple(fact(document) for document in facts)
    values: dict[str, Any] = {"n": n, "question": f"question {n}", "needs": (f"need {n}",)}
    return Hop(**(values | {"shortlist": tuple(listed), "read": tuple(read), "facts": found} | fields))


def fact(document: str, quote: str = "It is so.", value: str = "so") -> FoundFact:
    return FoundFact("need", value, "It is so", quote, f"Title {document}", document)


def cited(documents: str, *, verified: bool = True) -> tuple[Cited, ...]:
    return tuple(Cited(f"Title {document}", document, verified) for document in documents)


def folder(
    records: Sequence[QuestionRecord], name: str = "run", *, questions: int | None = None, **manifest: Any
) -> RunFolder:
    """A run that holds these records; keywords replace entries of its manifest."""
    values: dict[str, Any] = {
        "dataset": {"name": "towns", "form": "plain", "digest": "d" * 64},
        "corpus": {"name": "towns", "index": "towns", "fingerprint": "f" * 64},
        "mode": "iterative",
        "backend": "scripted",
        "judge": "",
        "self_judged": False,
        "settings": {"max_hops": 6, "seed": 0},
        "seed": 0,
        "sample": None,
        "limit": None,
        "questions": len({one.id for one in records}) if questions is None else questions,
        "excluded": 0,
        "repeat": max((one.repeat for one in records), default=1),
        "prompts": {"analyse": "1"},
        "code": "0.1.0",
        "concurrency": 4,
        "versions": {"python": "3.11"},
        "started": "2025-01-31T14:25:00+00:00",
    }
    return RunFolder(Path("runs") / name, values | manifest, tuple(records))


def store(run: RunFolder, path: Path) -> Path:
    """The run as `evaluate run` leaves it on disk: its manifest, and its records in a log of inspect_ai."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.scorer import Score

    ids = list(dict.fromkeys(one.id for one in run.records))
    spec = EvalSpec(
        created="2025-01-31T14:25:00+00:00",
        task="towns",
        dataset=EvalDataset(samples=len(ids), sample_ids=ids),
        model="none",
        config=EvalConfig(),
    )
    samples = [
        EvalSample(
            id=one.id,
            epoch=one.repeat,
            input=one.question,
            target="",
            scores={"answer": Score(value=1, metadata={RECORD: to_json(one)})},
        )
        for one in run.records
    ]
    logs = path / LOGS
    logs.mkdir(parents=True)
    (path / MANIFEST).write_text(json.dumps(run.manifest), encoding="utf-8")
    write_eval_log(EvalLog(eval=spec, samples=samples), str(logs / "2025-01-31T14-25-00_towns.eval"))
    return path


# --- reports, and what a browser would see of their page -----------------------------------------


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
