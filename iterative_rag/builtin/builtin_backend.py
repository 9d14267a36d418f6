"""The built-in backend: rules and a trained splitter plan, a trained reader reads. Every call is stateless."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.encoder import word_rank
from iterative_rag.builtin.question.corpus_names import MOST_TITLES, CorpusNames, TitledCorpus, TitleWords
from iterative_rag.builtin.question.extract_questions import wants_extract
from iterative_rag.builtin.question.follow_ups import RuleFollowUps
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.reading import passage_extracts
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_reader import EvidencePageReader, PageReader
from iterative_rag.builtin.reading.page_units import UnitPage, page
from iterative_rag.builtin.reasoning.answer_trust import AnswerTrust, FittedAnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.answering import compose
from iterative_rag.builtin.reasoning.grading import BuiltinGrader
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation
from iterative_rag.builtin.reasoning.planned_steps import BuiltinPlanner
from iterative_rag.builtin.reasoning.rephrasing import insert_values
from iterative_rag.builtin.reasoning.rewording import BuiltinRewriter
from iterative_rag.builtin.reasoning.sufficiency import BuiltinSufficiencyJudge
from iterative_rag.builtin.reasoning.thresholds import CAREFUL, Thresholds
from iterative_rag.protocols import Cache, CallBudget, Corpus, Embedder, Roles
from iterative_rag.types import Analysis, Draft, Extract, Fact, Inquiry, Known, Need, Needs, Stuck, Window

# Extracts below this trust are dropped: no answer is built on them (`reasoning.thresholds`), they only cost memory.
FLOOR = 0.05


class BuiltinBackend:
    """Plays every role without an LLM: a planner decomposes the question, a reader finds the values."""

    name = "builtin"
    metered = False
    # Grammar, lexicon and networks are made for these; a question in another one is refused.
    languages = ("en",)

    def __init__(
        self,
        embedder: Embedder,
        reader: PageReader | None = None,
        planner: QuestionPlanner | None = None,
        caution: Thresholds = CAREFUL,
        cache: Cache | None = None,
        *,
        binary_grades: bool = False,
        trust: AnswerTrust | None = None,
    ) -> None:
        """`binary_grades`: as the setting `grades` has it."""
        # The engine reads windows in parallel, so each reading uses one thread.
        evidence = EvidenceReader(threads=1)
        self._embedder = embedder
        self._reader = reader or EvidencePageReader(evidence)
        self._grader = BuiltinGrader(evidence, cache, binary=binary_grades)
        self._rewriter = BuiltinRewriter()
        self._planner = planner or QuestionPlanner(Splitter(cache=cache))
        self._caution = caution
        self._trust: AnswerTrust = trust or FittedAnswerTrust(evidence)
        self._titles: tuple[str, TitleWords] | None = None  # of the corpus of this fingerprint

    def with_names_of(self, corpus: Corpus) -> BuiltinBackend:
        """The same backend for questions about `corpus`, whose titles correct misspelt names."""
        if not isinstance(corpus, TitledCorpus):
            return self
        if self._titles is None or self._titles[0] != corpus.fingerprint:
            titles = corpus.titles()
            self._titles = corpus.fingerprint, TitleWords(titles if len(titles) <= MOST_TITLES else ())
        backend = copy.copy(self)
        backend._planner = self._planner.knowing(CorpusNames(self._titles[1], corpus, word_rank))
        return backend

    def roles(self, budget: CallBudget) -> Roles:
        """The roles. The budget is unused, since no role makes an LLM call."""
        planned = self._planner, self._caution, self._trust
        return Roles(
            BuiltinAnalyst(*planned),
            BuiltinExtractor(self._reader, self._embedder),
            BuiltinRephraser(*planned),
            BuiltinAnswerer(*planned),
            self._grader,
            self._rewriter,
            BuiltinPlanner(*planned),
            BuiltinSufficiencyJudge(*planned),
            follow_up=RuleFollowUps(),
        )


class BuiltinAnalyst:
    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def analyse(self, inquiry: Inquiry) -> Analysis:
        outcome = Evaluation(inquiry, self._caution, self._trust).of(self._planner.plan(inquiry.original))
        if outcome.values:
            return Known()
        if questions := outcome.needs or outcome.again:
            return Needs(tuple(Need(question) for question in questions))
        return Stuck(f"Not found: {'; '.join(outcome.missing) or inquiry.question}")


class BuiltinExtractor:
    def __init__(self, reader: PageReader, embedder: Embedder) -> None:
        self._reader, self._embedder = reader, embedder

    @property
    def fingerprint(self) -> str:
        return f"builtin/{self._reader.fingerprint}/{passage_extracts.VERSION}"

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """Every window is read for every need by itself; the models do not use the question behind them."""
        return tuple(
            Extract(statement, quote, finding.value, round(finding.score, 4), (n,), place)
            for n, need in enumerate(needs)
            for place, window in enumerate(windows)
            for finding in self._read(need.question, page(window))
            if finding.score >= FLOOR
            for quote, statement in finding.quotes
            if quote in page(window).text
        )

    def _read(self, question: str, page: UnitPage) -> list[Finding]:
        query = read_query(question)
        found = self._reader.read(query, page)
        if wants_extract(question):
            return passage_extracts.pick(question, page, self._embedder, found)
        return found


class BuiltinRephraser:
    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        known = set(inquiry.facts)
        grown = replace(inquiry, facts=(*inquiry.facts, *(fact for fact in found if fact not in known)))
        return insert_values(
            inquiry.original, self._planner.plan(inquiry.original), Evaluation(grown, self._caution, self._trust)
        )


class BuiltinAnswerer:
    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """Compose the answer. `advice` is ignored: the answer states nothing beyond the facts."""
        read = self._planner.read(inquiry.original)
        plan, evaluation = self._planner.plan(inquiry.original), Evaluation(inquiry, self._caution, self._trust)
        draft = compose(inquiry, read.question, plan, evaluation, last_attempt=last_attempt)
        return replace(draft, taken_as=read.taken)
