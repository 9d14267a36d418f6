"""The built-in backend: rules and a trained splitter plan, a trained reader reads. Every call is stateless."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iterative_rag.builtin.encoder import EncoderNetwork, word_rank
from iterative_rag.builtin.networks import lazy
from iterative_rag.builtin.question.corpus_names import (
    MOST_TITLES,
    CorpusNames,
    SuggestingCorpus,
    TitledCorpus,
    TitleWords,
)
from iterative_rag.builtin.question.follow_ups import RuleFollowUps
from iterative_rag.builtin.question.need_query import read_query, wants_extract
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter, SplitterNetwork
from iterative_rag.builtin.reading.evidence_reader import EvidenceNetwork, EvidenceReader
from iterative_rag.builtin.reading.findings import EXTRACTS, RULES, Finding
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL, AnswerTrust, FittedAnswerTrust, Thresholds
from iterative_rag.builtin.reasoning.joint_reading import JointReading
from iterative_rag.builtin.reasoning.planned_roles import PlannedRoles
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.builtin.reasoning.rewording import BuiltinRewriter
from iterative_rag.protocols import BackendTraits, Cache, CallBudget, Corpus, Embedder, Roles
from iterative_rag.types import Extract, Need, Window

if TYPE_CHECKING:
    from iterative_rag.builtin.reading.page_reader import EvidencePageReader
    from iterative_rag.builtin.reading.page_units import UnitPage

# Extracts below this trust are dropped: no answer is built on them (`reasoning.answer_trust`), they only cost memory.
FLOOR = 0.05


def load_networks() -> None:
    """Load the networks in the order in which a question needs them, ahead of the first. Raises WeightsError."""
    for network in (SplitterNetwork, EncoderNetwork, EvidenceNetwork):
        lazy(network, None)()


class BuiltinBackend:
    """Plays every role without an LLM: a planner decomposes the question, a reader finds the values."""

    name = "builtin"
    # Grammar, lexicon and networks are made for English; a question in another language is refused.
    traits = BackendTraits(calls_cost=False, own_words=False, thorough=False, languages=("en",))

    def __init__(
        self,
        embedder: Embedder,
        reader: EvidencePageReader | None = None,
        planner: QuestionPlanner | None = None,
        caution: Thresholds = CAREFUL,
        cache: Cache | None = None,
        *,
        trust: AnswerTrust | None = None,
    ) -> None:
        # The engine reads windows in parallel, so each reading uses one thread.
        evidence = EvidenceReader(threads=1)
        self._extractor = BuiltinExtractor(evidence, embedder, reader)
        self._grader = ReaderRoles(evidence, cache)
        self._rewriter = BuiltinRewriter()
        self._planner = planner or QuestionPlanner(Splitter(cache=cache))
        self._caution = caution
        self._trust: AnswerTrust = trust or FittedAnswerTrust(self._grader)
        self._titles: tuple[str, TitleWords] | None = None  # of the corpus of this fingerprint

    def _planner_for(self, corpus: Corpus | None) -> QuestionPlanner:
        """The planner of questions about `corpus`, whose titles correct misspelt names."""
        if not isinstance(corpus, TitledCorpus | SuggestingCorpus):
            return self._planner
        if self._titles is None or self._titles[0] != corpus.fingerprint:
            titles = corpus.titles() if isinstance(corpus, TitledCorpus) else []
            self._titles = corpus.fingerprint, TitleWords(titles if len(titles) <= MOST_TITLES else ())
        return self._planner.knowing(CorpusNames(self._titles[1], corpus, word_rank))

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        """The roles. The budget is unused, since no role makes an LLM call."""
        planner = self._planner_for(corpus)
        planned = PlannedRoles(planner, self._caution, self._trust)
        return Roles(
            analyst=planned,
            extractor=self._extractor,
            rephraser=planned,
            answerer=planned,
            confirmers=(JointReading(planner, self._grader),),
            grader=self._grader,
            rewriter=self._rewriter,
            planner=planned,
            follow_up=RuleFollowUps(),
        )


class BuiltinExtractor:
    """Implements protocols.Extractor. How a page is read is loaded when one is: a repeated question reads none."""

    def __init__(self, evidence: EvidenceReader, embedder: Embedder, reader: EvidencePageReader | None = None) -> None:
        self._evidence, self._embedder, self._reader = evidence, embedder, reader

    @property
    def fingerprint(self) -> str:
        rules = self._reader.fingerprint if self._reader else f"{self._evidence.name}/{RULES}"
        return f"builtin/{rules}/{EXTRACTS}"

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """Every window is read for every need by itself; the models do not use the question behind them."""
        from iterative_rag.builtin.reading.page_reader import EvidencePageReader
        from iterative_rag.builtin.reading.page_units import page

        reader = self._reader or EvidencePageReader(self._evidence)
        return tuple(
            Extract(statement, quote, finding.value, round(finding.score, 4), (n,), position)
            for n, need in enumerate(needs)
            for position, window in enumerate(windows)
            for finding in self._read(reader, need.question, page(window))
            if finding.score >= FLOOR
            for quote, statement in finding.quotes
            if quote in page(window).text
        )

    def _read(self, reader: EvidencePageReader, question: str, page: UnitPage) -> list[Finding]:
        findings = reader.read(read_query(question), page)
        if not wants_extract(question):
            return findings
        from iterative_rag.builtin.reading.passage_extracts import pick

        return pick(question, page, self._embedder, findings)
