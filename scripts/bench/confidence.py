"""Fits the thresholds of the words of an ending: the confidence of answers, and "not in the corpus".

    python -m scripts.bench.confidence --data FOLDER --rows rows.jsonl           # prints them
    python -m scripts.bench.confidence --data FOLDER --rows rows.jsonl --write   # and writes them into the package

FOLDER holds the multi-hop files. Each question is asked over the pool of its file, and a second time over the pool
without any paragraph that supports an answer, where "not in the corpus" is right. What was asked stays in `rows`, so
that an interrupted run goes on. The thresholds are fitted on questions of FITTED; after the
built-in models were trained, fit them again, on questions that no model has seen (the first of FITTED matters most).

A word begins at the least confidence from which on SHARES of its answers are right in every fitted file. "Near" is the
linear rule that tells the abstentions with gold in the corpus from those without, where the engine does not know it by
itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL
from iterative_rag.evaluation.answer_match import score
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.question_files import read_bytes
from iterative_rag.evaluation.question_files import rows as rows_in
from iterative_rag.evaluation.records import Dataset, Question
from iterative_rag.evaluation.search_scope import pool
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.nearness import names_held
from iterative_rag.settings import load_settings
from iterative_rag.types import (
    AnalysisStep,
    ConfidenceWord,
    FinalStep,
    Known,
    ReadingStep,
    ShortlistedDocument,
    ShortlistStep,
    Status,
    Step,
)
from iterative_rag.verification.confidence import FILE, MeasuredThresholds
from scripts.bench import harness
from scripts.train.data import half
from scripts.train.evidence import aside


@dataclass(frozen=True, slots=True)
class Group:
    """Questions of one file: those of a half of it (all for ""), up to `stop`; the first `without` of them are asked
    again without gold. A `drawn` group is chosen by the hash of the ids from those whose gold articles were set aside
    from all training."""

    file: str
    half: str = ""
    stop: int = 500
    without: int = 100
    drawn: bool = False

    @property
    def name(self) -> str:
        return f"{self.file.split('.')[0]} {self.half}".strip()


FITTED = (
    Group("hotpotqa_2.jsonl.gz", stop=200, drawn=True),
    Group("hotpotqa_train.jsonl"),
    Group("musique_train.jsonl", "A"),
    Group("2wiki_train.jsonl", "A", stop=140, without=0),
)
ASIDE = "multihop/hotpotqa_2.jsonl.gz"
STARTER_CORPUS = harness.ROOT / "input_wikipedia"
# Of fitted files; a word promises 80 and 50 % of others, where answers are right less often at the same confidence.
SHARES = {ConfidenceWord.WELL_SUPPORTED: 0.8, ConfidenceWord.LIKELY: 2 / 3}
# A file has a say in a threshold with so many answers above it.
MANY = 10
IN_FLIGHT = 2

R = TypeVar("R", bound=Any)  # a dataclass with the group, the question, and whether the corpus holds its answer


@dataclass(frozen=True, slots=True)
class Row:
    """One question over one pool. `known`: the last analysis said that nothing is missing."""

    group: str
    question: str
    gold: bool
    status: str
    code: str
    right: bool
    confidence: float
    known: bool
    names: float
    score: float


def row_of(group: str, question: Question, steps: Iterable[Step], corpus: Corpus, *, gold: bool) -> Row:
    """What a run tells; `gold`: the corpus holds the answer."""
    listed: list[ShortlistedDocument] = []
    best, known, answer = 0.0, False, None
    for step in steps:
        match step:
            case AnalysisStep():
                known = isinstance(step.analysis, Known)
            case ShortlistStep():
                listed += step.documents
            case ReadingStep():
                best = max([best, *(fact.score for fact in step.facts)])
            case FinalStep():
                answer = step.answer
    assert answer is not None, "the engine ended without a final step"
    given = answer.status is Status.ANSWERED
    return Row(
        group=group,
        question=question.text,
        gold=gold,
        status=str(answer.status),
        code=str(answer.reason_code or ""),
        right=given and gold and bool(score(answer.short_answer, question.answers).right),
        confidence=answer.confidence,
        known=known,
        names=round(names_held(question.text, corpus, listed), 4),
        score=best,
    )


# --- asking -----------------------------------------------------------------------------------

# The questions of a group, over the paragraphs of a dataset or a corpus by name, and whether that holds the answers.
Job = tuple[str, Dataset | str, Sequence[Question], bool]


def jobs(folder: Path, groups: Iterable[Group], work: Path) -> Iterator[Job]:
    for group in groups:
        yield from with_and_without(group.name, *questions_of(folder, group, work), group.without)


def with_and_without(name: str, dataset: Dataset, questions: Sequence[Question], without: int) -> Iterator[Job]:
    """All questions over all paragraphs, and the first ones over those that support no answer."""
    yield name, dataset, questions, True
    yield name, without_gold(dataset), questions[:without], False


def questions_of(folder: Path, group: Group, work: Path) -> tuple[Dataset, tuple[Question, ...]]:
    """The dataset whose paragraphs are pooled, and the questions of it that are asked."""
    if group.drawn:
        dataset = load(set_aside(folder.parent, work, group.stop, STARTER_CORPUS))
        return dataset, dataset.questions
    dataset = load(folder / group.file)
    chosen = [one for one in dataset.questions if not group.half or half(one.id) == group.half]
    return dataset, tuple(chosen[: group.stop])


def set_aside(folder: Path, work: Path, count: int, starter: Path) -> Path:
    """A file of HotpotQA's questions whose gold articles were set aside, in the order of their hashes."""
    known, path = aside.parts(folder, starter), folder / ASIDE
    fields = [row.fields for row in rows_in(path, read_bytes(path))]
    fit = [row for row in fields if row["labels"] == "gold" and len(row["paragraphs"]) == 10]
    fit = [row for row in fit if known.part(aside.titles_of(ASIDE, row, {})) == aside.ASIDE]
    fit.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    file = work / "hotpotqa_aside.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in fit[:count]), "utf-8")
    return file


def without_gold(dataset: Dataset) -> Dataset:
    """The same questions over the paragraphs that support no answer."""
    gold = {one.title for question in dataset.questions for one in question.paragraphs if one.supporting}
    questions = tuple(
        replace(question, paragraphs=kept)
        for question in dataset.questions
        if (kept := tuple(one for one in question.paragraphs if one.title not in gold))
    )
    digest = hashlib.sha256(f"{dataset.digest} without gold".encode()).hexdigest()
    return replace(dataset, name=f"{dataset.name} without gold", digest=digest, questions=questions)


def asked(
    wanted: Iterable[Job], kept: Path, kind: type[R], ask: Callable[[str, Sequence[Question], str, bool], Iterable[R]]
) -> list[R]:
    """All rows of a kind; what is not kept yet is asked: `ask(group, questions, corpus, gold)`."""
    found = [kind(**row) for row in harness.rows_of(kept)] if kept.exists() else []
    known = {(row.group, row.question, row.gold) for row in found}
    with kept.open("a", encoding="utf-8") as file:
        for group, searched, questions, gold in wanted:
            new = [one for one in questions if (group, one.text, gold) not in known]
            if not new:
                continue
            if not isinstance(searched, str):
                searched = pool(searched, load_settings({"llm": "builtin"}), BuiltinEncoder())
            print(f"{group}: {len(new)} questions over {searched}", flush=True)
            for row in ask(group, new, searched, gold):
                file.write(json.dumps(asdict(row)) + "\n")
                file.flush()
                found.append(row)
    return found


def ask(group: str, questions: Sequence[Question], corpus: str, gold: bool) -> Iterator[Row]:
    rag = IterativeRAG.from_settings(load_settings({"llm": "builtin", "corpus": corpus}))
    with rag, ThreadPoolExecutor(IN_FLIGHT) as threads:
        yield from threads.map(lambda one: row_of(group, one, rag.steps(one.text), rag.corpus, gold=gold), questions)


# --- words ------------------------------------------------------------------------------------


def fitted_words(rows: Sequence[Row]) -> dict[ConfidenceWord, float]:
    """The least confidence of each word: the lowest twentieth from which on, step by step, it keeps its share; none
    below the least confidence of an answer, of which nothing is known."""
    found: dict[ConfidenceWord, float] = {}
    for word, share in SHARES.items():
        found[word] = 1.0
        for least in (step / 20 for step in range(20, round(20 * CAREFUL.given) - 1, -1)):
            if not keeps(rows, least, share):
                break
            found[word] = least
    return found


def keeps(rows: Sequence[Row], least: float, share: float) -> bool:
    """Whether answers from this confidence on are right often enough in every file that has MANY of them."""
    answered = [row for row in rows if row.gold and row.status == "answered" and row.confidence >= least]
    kept = [[row.right for row in own] for own in grouped(answered).values()]
    return all(sum(right) >= share * len(right) for right in kept if len(right) >= MANY)


# --- near -------------------------------------------------------------------------------------


def fitted_near(rows: Sequence[Row]) -> tuple[float, float, float]:
    """The weights of names and score, and the least sum: ridge logistic regression by Newton's method, both sides
    weighing the same, on the abstentions that the engine cannot tell apart."""
    told = [row for row in rows if row.status == "abstained" and not row.known]
    gold = np.array([row.gold for row in told])
    columns = np.array([(row.names, row.score, 1.0) for row in told])
    weight = np.where(gold, 1 / gold.sum(), 1 / (~gold).sum()) * len(gold) / 2
    ridge, fitted = np.diag([1.0, 1.0, 1e-6]), np.zeros(3)
    for _ in range(50):
        share = 1 / (1 + np.exp(-columns @ fitted))
        slope = columns.T @ (weight * (share - gold)) + ridge @ fitted
        fitted -= np.linalg.solve(columns.T @ (columns * (weight * share * (1 - share))[:, None]) + ridge, slope)
    names, best, bias = (round(float(value), 2) for value in fitted)
    return names, best, -bias


def grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return groups


def confidence(data: harness.Named, rows: harness.Named, write: bool = False) -> None:
    """`data` is the folder with the multi-hop files, `rows` the file in which the results are kept."""
    learnt = asked(jobs(data, FITTED, rows.parent), rows, Row, ask)
    words, near = fitted_words(learnt), fitted_near(learnt)
    by = MeasuredThresholds(words[ConfidenceWord.WELL_SUPPORTED], words[ConfidenceWord.LIKELY], *near)
    print(by)
    if write:
        write_thresholds(by)


def write_thresholds(by: MeasuredThresholds) -> None:
    """The file of the thresholds, with its comments."""
    values = asdict(by)
    lines = FILE.read_text("utf-8").splitlines()
    for place, line in enumerate(lines):
        name = line.split(" = ")[0]
        if name in values:
            lines[place] = f"{name} = {values[name]:g}"
    FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    harness.run(confidence)
