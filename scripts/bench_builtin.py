"""What each part of the built-in backend adds: the same questions with one part left out at a time.

    python scripts/bench_builtin.py FILE [FILE ...] [--first N] [--corpus NAME] [--without PART [PART ...]]

Each file's paragraphs are pooled into one corpus; questions without paragraphs are asked over `--corpus`. Every
question is asked once with all parts and once without each, and always answered. Printed for each part: in how many
questions the answer is another one, F1 of all answers, and, of those that the product would give, how many there are
and the share of wrong ones. Two answers in a hundred are noise. A part that only plans is asked about the questions
alone that it plans differently, and what the reader has read once is not read again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from iterative_rag.app.factory import IterativeRAG, open_corpus
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.span_decoding import Split
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reading.page_reader import EvidencePageReader
from iterative_rag.builtin.reasoning.answer_trust import FittedAnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.thresholds import CAREFUL, GUESSING
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.paragraph_pools import pool
from iterative_rag.evaluation.metrics.statistics import mean, mean_interval
from iterative_rag.evaluation.questions import Question
from iterative_rag.evaluation.scoring.answer_match import score
from iterative_rag.protocols import Corpus
from iterative_rag.settings import load_settings
from iterative_rag.storage.cache import NoCache

IN_FLIGHT = 2
EVERYTHING, SPLITTER, TRUST, NAMES = "", "splitter", "answer_trust", "corpus_names"
PLANNING = (
    "request_forms",
    "several_questions",
    "wording",
    "antecedents",
    "simplification",
    "split_repair",
    "names",
    "times",
    "trailing",
    "descriptions",
    "computations",
    "time_questions",
    "difference_questions",
    "list_questions",
    "comparison_questions",
    "choice_questions",
    "yes_no_questions",
)
READING = ("lead_descriptions", "life_facts", "infobox_facts", "table_answers", "value_kinds")
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


class RememberingSplitter(Splitter):
    """Splits nothing twice."""

    def __init__(self) -> None:
        super().__init__()
        self._splits = lru_cache(maxsize=None)(super().split)

    def split(self, question: str) -> Split:
        return self._splits(question)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was answered: `given` if the product gives it."""

    text: str
    f1: float
    right: bool
    given: bool


class Ablation:
    """Asks questions of one corpus without one part."""

    def __init__(self, corpus: Corpus, encoder: BuiltinEncoder, reader: EvidenceReader, splitter: Splitter) -> None:
        self._corpus, self._encoder, self._reader, self._splitter = corpus, encoder, reader, splitter

    def planner(self, without: str) -> QuestionPlanner:
        return QuestionPlanner(None if without == SPLITTER else self._splitter, without=(without,))

    def ask(self, questions: Sequence[Question], without: str) -> list[Outcome]:
        backend = BuiltinBackend(
            self._encoder,
            EvidencePageReader(self._reader, without=(without,) if without in READING else ()),
            self.planner(without),
            GUESSING,
            trust=weakest_step if without == TRUST else FittedAnswerTrust(self._reader),
        )
        settings = load_settings({"llm": "builtin", "cache": False})
        engine = IterativeRAG(settings, corpus=self._corpus, backend=backend, cache=NoCache())

        def one(question: Question) -> Outcome:
            answer = engine.ask(question.text)
            measured = score(answer.short_answer, question.answers)
            text = answer.short_answer
            given = bool(text) and answer.confidence >= CAREFUL.given
            return Outcome(text, measured.f1, bool(text) and bool(measured.right), given)

        with ThreadPoolExecutor(IN_FLIGHT) as threads:
            return list(threads.map(one, questions))

    def without(self, part: str, questions: Sequence[Question], known: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes without a part; `known` are those with all of them."""
        if part not in (SPLITTER, *PLANNING):
            return self.ask(questions, part)
        with_all, lacking = self.planner(EVERYTHING), self.planner(part)
        places = [
            place
            for place, one in enumerate(questions)
            if (lacking.read(one.text), lacking.plan(one.text)) != (with_all.read(one.text), with_all.plan(one.text))
        ]
        found = list(known)
        for place, outcome in zip(places, self.ask([questions[place] for place in places], part), strict=True):
            found[place] = outcome
        return found


def row(part: str, known: Sequence[Outcome], found: Sequence[Outcome]) -> str:
    f1, given = [100 * one.f1 for one in found], [one for one in found if one.given]
    lost = [100 * (a.f1 - b.f1) for a, b in zip(known, found, strict=True)]
    low, high = mean_interval(lost, share=False)
    others = sum(a.text != b.text for a, b in zip(known, found, strict=True))
    wrong = f"{100 * mean([float(not one.right) for one in given]):.0f}" if given else "-"
    change = f"{mean(lost):+.1f} ({low:+.1f} to {high:+.1f})" if others else "0"
    return f"| {part or 'all parts'} | {others} | {mean(f1):.1f} | {change} | {len(given)} | {wrong} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", help="question files")
    parser.add_argument("--first", type=int, help="only so many questions of each file")
    parser.add_argument("--corpus", default="starter", help="for questions without paragraphs")
    parser.add_argument("--without", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()

    settings, encoder = load_settings({"llm": "builtin"}), BuiltinEncoder()
    reader, splitter = RememberingReader(), RememberingSplitter()
    for file in arguments.files:
        dataset = load(file)
        questions = dataset.questions[: arguments.first]
        pooled = any(question.paragraphs for question in questions)
        name = pool(dataset, settings, encoder) if pooled else arguments.corpus
        corpus = open_corpus(settings.model_copy(update={"corpus": name}), encoder)
        ablation = Ablation(corpus, encoder, reader, splitter)
        known = ablation.ask(questions, EVERYTHING)
        print(f"\n{dataset.name}: {len(questions)} questions\n", flush=True)
        print("| without | other answers | F1 | adds | given | wrong of these, % |\n|---|---|---|---|---|---|")
        print(row(EVERYTHING, known, known), flush=True)
        for part in arguments.without:
            print(row(part, known, ablation.without(part, questions, known)), flush=True)
        corpus.close()


if __name__ == "__main__":
    main()
