"""Answers and steps of every kind, and a stand-in for the factory that plays them back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import jsonschema

import iterative_rag
from iterative_rag import types

SCHEMA = json.loads((Path(iterative_rag.__file__).parent / "answer.schema.json").read_text(encoding="utf-8"))


def check_schema(made: object) -> None:
    """Raises where this is not what the schema of answers in JSON describes."""
    jsonschema.validate(made, SCHEMA, cls=jsonschema.Draft202012Validator)


QUESTION = "Who founded the town where the Sunday bridge stands?"
NEED = types.Need("In which town does the Sunday bridge stand?")
OTHER = types.Need("Who is named in the register?")
FACT = types.Fact(
    statement="The Sunday bridge stands in Aldermere.",
    quote="The Sunday bridge is the oldest crossing in Aldermere.",
    value="Aldermere",
    document_id="d1",
    title="Sunday bridge",
    source="corpus/Sunday_bridge.md",
    start=10,
    end=64,
    need=NEED,
    score=0.9,
)
SHORTLISTED = types.ShortlistedDocument(
    "d1", "Sunday bridge", "corpus/Sunday_bridge.md", 0.03, (types.Hit("d1", "Sunday bridge", 0, 90, 0.03, 1, None),)
)
CITATION = types.Citation(1, FACT.title, FACT.source, FACT.quote, FACT.start, FACT.end)
HOP = types.HopRecord(1, QUESTION, (NEED.question,), ("Sunday bridge",), (FACT,), "Who founded Aldermere?", 3, 0.25)
USAGE = types.Usage(llm_calls=5, prompt_tokens=1234, completion_tokens=56, seconds=1.5, cache_hits=2)
SETTINGS = {"llm": "builtin", "max_hops": 6, "cache": True, "max_seconds": 600.0}

ANSWERED = types.Answer(
    question=QUESTION,
    text="Aldermere was founded by Edda Holm [1].",
    short_answer="Edda Holm",
    status=types.Status.ANSWERED,
    reason="",
    confidence=0.8,
    citations=(CITATION,),
    hops=(HOP,),
    usage=dataclasses.replace(USAGE, models=(types.ModelUsage("big", 1, 90, 10), types.ModelUsage("small", 2, 30, 5))),
    computations=(types.Computation("1912 - 1825", "87", (1,)),),
    conflicts=(types.Conflict(NEED.question, (types.Side("Aldermere", (1,)), types.Side("Orm", (1,)))),),
    claims=(types.Claim("Edda Holm founded it", True, (1,)),),
    run_id="20250131-142501-3fa9c1",
    chain=(
        types.ChainLink(NEED.question, "Aldermere", (1,)),
        types.ChainLink("Who is the founder of Aldermere?", "Edda Holm", (1,)),
    ),
    settings=SETTINGS,
)
ABSTAINED = types.Answer(
    question=QUESTION,
    text="",
    short_answer="",
    status=types.Status.ABSTAINED,
    reason="The corpus does not say who founded Aldermere.",
    reason_code=types.ReasonCode.NOT_IN_CORPUS,
    confidence=0.0,
    citations=(),
    hops=(HOP,),
    usage=types.Usage(),
    settings=SETTINGS,
)
CAPPED = dataclasses.replace(
    ABSTAINED,
    text="Found so far: the Sunday bridge stands in Aldermere [1]",
    status=types.Status.INCOMPLETE,
    reason="The run reached its limit of 1 hops.",
    reason_code=types.ReasonCode.LIMIT,
    confidence=0.2,
    citations=(CITATION,),
    usage=USAGE,
    cap=types.Cap.HOPS,
)
FAULTY = dataclasses.replace(
    ABSTAINED,
    status=types.Status.INCOMPLETE,
    reason="The server closed the connection.",
    reason_code=types.ReasonCode.FAULT,
    hops=(),
    usage=USAGE,
    fault=types.Fault("The server closed the connection.", "ollama serve", 5),
)
UNREAD = dataclasses.replace(
    ABSTAINED,
    status=types.Status.INCOMPLETE,
    reason_code=types.ReasonCode.UNREAD,
    reason="1 document could not be read: Register (Ollama answered 500).",
    unread=(types.UnreadDocument("Register", "corpus/Register.md", OTHER.question, "Ollama answered 500."),),
)


def steps_to(answer: types.Answer) -> list[types.Step]:
    """A run with one of every kind of step, two needs in its first hop."""
    return [
        types.FollowUpStep("and who founded it?", QUESTION),
        types.AnalysisStep(1, QUESTION, types.Needs((NEED, OTHER))),
        types.ShortlistStep(1, NEED, (SHORTLISTED,)),
        types.ShortlistStep(1, OTHER, (), wider=True),
        types.ReadingStep(1, NEED, (FACT,), read=1, cached=0, skipped=0, dropped=0),
        types.ReadingStep(1, OTHER, (), 2, 0, 0, 1, (types.ReadingFault("Register", "a reply could not be read"),)),
        types.RephrasingStep(1, QUESTION, "Who founded Aldermere?"),
        types.PlanningStep(1, types.Plan((types.PlannedStep(OTHER.question, "its founder"),), "one is left")),
        types.GradingStep(
            1, NEED, (SHORTLISTED.title,), (types.Grade(0.9, types.Label.PERFECT, "it says so"),), types.Verdict.CORRECT
        ),
        types.CorrectionStep(1, NEED, types.Rewording(("the Sunday bridge",), "bridges", "A bridge."), (SHORTLISTED,)),
        types.WebStep(
            1,
            NEED,
            "stand-in",
            "sunday bridge",
            (types.SearchResult("Sunday bridge", "https://example.org/b", "a bridge"),),
            (SHORTLISTED,),
            (types.ReadingFault("Other", "the page is gone"),),
        ),
        types.ReflectionStep(
            2,
            types.Reflection((types.Claim("It is old", False, (), "no fact"),), gap=OTHER.question),
            types.Action.SEARCH,
        ),
        types.DegradedStep(2, "rephrase", "LLMTimeout", "The model did not reply in time."),
        types.ToolStep(2, "find_in_article", "Aldermere: founded", "1 place", ("aldermere",)),
        types.AnalysisStep(2, "Who founded Aldermere?", types.Stuck("nothing left to try")),
        types.AnalysisStep(3, "Who founded Aldermere?", types.Known()),
        types.AnsweringStep(3, types.Draft(True, answer.text, answer.short_answer, (0,)), last_attempt=True),
        types.FinalStep(answer),
    ]


class FakeRAG:
    """Plays one run back, or raises; remembers what it was asked."""

    def __init__(self, outcome: types.Answer | BaseException, notice: str = "") -> None:
        self.outcome = outcome
        self.notice = notice
        self.asked: list[str] = []
        self.settings: Any = None
        self.closed = False

    def from_settings(self, settings: object = None, *, question: str = "") -> FakeRAG:
        self.settings = settings
        return self

    def steps(
        self, question: str, *, trace: Path | None = None, progress: object = None, written: object = None
    ) -> Iterator[types.Step]:
        self.asked.append(question)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        yield from steps_to(self.outcome)

    def ask(self, question: str, *, trace: Path | None = None) -> types.Answer:
        *_, last = self.steps(question, trace=trace)
        assert isinstance(last, types.FinalStep)
        return last.answer

    async def asteps(self, question: str) -> AsyncGenerator[types.Step]:
        for step in self.steps(question):
            yield step

    async def aask(self, question: str) -> types.Answer:
        return self.ask(question)

    def close(self) -> None:
        self.closed = True
