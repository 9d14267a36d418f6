"""What each part of the built-in backend adds: the same questions with one part left out at a time.

    python -m scripts.bench.parts FILE [FILE ...] [--first N] [--corpus NAME] [--without PART,PART]

Each file's paragraphs are pooled into one corpus; questions without paragraphs are asked over `--corpus`. Every
question is asked once with all parts and once without each, and always answered. Printed for each part: in how many
questions the answer is another one, F1 of all answers, and, of those that the product would give, how many there are
and the share of wrong ones. Two answers in a hundred are noise. A part that only plans is asked about the questions
alone that it plans differently, and what the reader has read once is not read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from iterative_rag.app.factory import IterativeRAG, open_corpus
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reading.page_reader import EvidencePageReader
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL, GUESSING, FittedAnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.evaluation.answer_match import score
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.records import Question
from iterative_rag.evaluation.search_scope import pool
from iterative_rag.evaluation.statistics import mean_interval
from iterative_rag.protocols import Corpus
from iterative_rag.settings import load_settings
from iterative_rag.storage.cache import NoCache
from scripts.bench import harness

EVERYTHING, SPLITTER, TRUST, NAMES = "", "splitter", "answer_trust", "corpus_names"
PLANNING = [
    "request_forms", "wording", "antecedents", "computations", "differences",
    "comparisons", "pairs",
]  # fmt: skip
READING = ("infobox_facts", "table_answers")
PARTS = (SPLITTER, *PLANNING, NAMES, *READING, TRUST)


class RememberingReader(EvidenceReader):
    """Reads nothing twice."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self._read = lru_cache(maxsize=None)(self._read_one)

    def _read_one(self, need: str, passage: PassageText, best: int) -> EvidenceReading:
        return super().read(need, [passage], best=best)[0]

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        return [self._read(need, passage, best) for passage in passages]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was answered: `given` if the product gives it."""

    text: str
    f1: float
    right: bool
    given: bool


class Ablation:
    """Asks questions of one corpus without one part."""

    def __init__(self, corpus: Corpus, encoder: BuiltinEncoder, reader: EvidenceReader) -> None:
        self._corpus, self._encoder, self._reader, self._splitter = corpus, encoder, reader, Splitter()

    def planner(self, without: str) -> QuestionPlanner:
        return QuestionPlanner(None if without == SPLITTER else self._splitter, without=(without,))

    def ask(self, questions: Sequence[Question], without: str) -> list[Outcome]:
        backend = BuiltinBackend(
            self._encoder,
            EvidencePageReader(self._reader, without=(without,) if without in READING else ()),
            self.planner(without),
            GUESSING,
            trust=weakest_step if without == TRUST else FittedAnswerTrust(ReaderRoles(self._reader)),
        )
        settings = load_settings({"llm": "builtin", "cache": False})
        engine = IterativeRAG(settings, corpus=self._corpus, backend=backend, cache=NoCache())

        def outcome(question: Question) -> Outcome:
            answer = engine.ask(question.text)
            text, measured = answer.short_answer, score(answer.short_answer, question.answers)
            given = bool(text) and answer.confidence >= CAREFUL.given
            return Outcome(text, measured.f1, bool(text) and bool(measured.right), given)

        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(outcome, questions))

    def without(self, part: str, questions: Sequence[Question], known: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes without a part; `known` are those with all of them."""
        if part not in (SPLITTER, *PLANNING):
            return self.ask(questions, part)
        full, lacking = self.planner(EVERYTHING), self.planner(part)
        differing = [
            number
            for number, asked in enumerate(questions)
            if (lacking.read(asked.text), lacking.plan(asked.text)) != (full.read(asked.text), full.plan(asked.text))
        ]
        anew = self.ask([questions[number] for number in differing], part)
        changed = dict(zip(differing, anew, strict=True))
        return [changed.get(number, outcome) for number, outcome in enumerate(known)]


def row(part: str, known: Sequence[Outcome], without: Sequence[Outcome]) -> Mapping[str, object]:
    given = [one for one in without if one.given]
    lost = [100 * (a.f1 - b.f1) for a, b in zip(known, without, strict=True)]
    low, high = mean_interval(lost, share=False)
    others = sum(a.text != b.text for a, b in zip(known, without, strict=True))
    return {
        "without": part or "all parts",
        "other answers": others,
        "F1": f"{fmean([100 * one.f1 for one in without]):.1f}",
        "adds": f"{fmean(lost):+.1f} ({low:+.1f} to {high:+.1f})" if others else "0",
        "given": len(given),
        "wrong of these, %": f"{100 * fmean([float(not one.right) for one in given]):.0f}" if given else "-",
    }


def parts(files: list[Path], first: int | None = None, corpus: str = "starter", without: str = ",".join(PARTS)) -> None:
    """A table for each question file (`first`: of so many questions of it)."""
    settings, encoder, reader = load_settings({"llm": "builtin"}), BuiltinEncoder(), RememberingReader()
    for file in files:
        dataset = load(file)
        questions = dataset.questions[:first]
        name = pool(dataset, settings, encoder) if any(one.paragraphs for one in questions) else corpus
        opened = open_corpus(settings.model_copy(update={"corpus": name}), encoder)
        ablation = Ablation(opened, encoder, reader)
        known = ablation.ask(questions, EVERYTHING)
        print(f"\n{dataset.name}: {len(questions)} questions\n", flush=True)
        harness.show(
            row(part, known, ablation.without(part, questions, known) if part else known)
            for part in [EVERYTHING, *without.split(",")]
        )
        opened.close()


if __name__ == "__main__":
    harness.run(parts)
