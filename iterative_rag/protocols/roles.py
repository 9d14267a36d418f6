"""The roles of a backend.

Each role raises LLMError where its model fails and CapReached at a limit of the run. It keeps no state between calls:
everything it may use stands in its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iterative_rag.protocols.corpora import Corpus
from iterative_rag.protocols.models import CallBudget
from iterative_rag.types import (
    AgentView,
    Analysis,
    Computation,
    Continuation,
    Draft,
    Earlier,
    Extract,
    Fact,
    FollowUpReading,
    Grade,
    Inquiry,
    Need,
    OutlineSection,
    Plan,
    Reflection,
    Rewording,
    Sentence,
    SubmitCall,
    ToolCall,
    Window,
)


class Analyst(Protocol):
    """Decides how the loop goes on: the question can be answered, facts are missing, or nothing more can be found."""

    def analyse(self, inquiry: Inquiry) -> Analysis:
        """Known, Needs (look-ups that do not depend on one another), or Stuck with the reason."""


class Extractor(Protocol):
    """Reads windows of documents for the needs of a hop. Called from several threads at once."""

    @property
    def fingerprint(self) -> str:
        """Model, prompt and schema version: part of the cache key of everything extracted."""

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """What the windows say about the needs; empty if they say nothing.

        `Extract.quote` is copied verbatim from the text of its window. It is looked for in the document afterwards, and
        what is not found there is dropped. `question` is the one that the needs were derived from: an extract may serve
        another part of it instead of a need.
        """


class SentenceReader(Protocol):
    """Reads a few sentences for one need, in one short call: what a small model does well."""

    def read(self, need: Need, sentences: Sequence[Sentence]) -> tuple[Sentence, str] | None:
        """The sentence that states the answer, with the answer ("": none of them does); None for a reply that names no
        sentence that was shown, or an answer that does not stand there."""


class Confirmer(Protocol):
    """Reads again what was found for a need, with other eyes."""

    def confirm(self, need: Need, facts: Sequence[Fact], corpus: Corpus) -> tuple[Fact, ...]:
        """The facts, trusted less where the second reading found something else, and what it alone found."""


class Rephraser(Protocol):
    """Simplifies the question after a hop, by putting the values that were found into it."""

    def rephrase(self, inquiry: Inquiry, new_facts: Sequence[Fact]) -> str:
        """The new question, which stands on its own; the current one if nothing of `new_facts` fits into it.

        `new_facts` are the facts of the last hop, which `inquiry.facts` does not contain yet.
        """


class JointAnalyst(Protocol):
    """Rephrases the question after a hop and analyses it for the next one, in a single call."""

    def proceed(self, inquiry: Inquiry, new_facts: Sequence[Fact]) -> Continuation:
        """The rephrased question and its analysis. `new_facts` are the facts of the last hop, which `inquiry.facts`
        contains already, as `inquiry.tried` does the needs."""


class Answerer(Protocol):
    """Drafts an answer to the original question out of the facts alone."""

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """An answer that cites facts, or an abstention that says what is missing or which premise is false.

        `last_attempt`: nothing more will be looked up, so a likely answer with low confidence is better than none.
        `advice` says what was wrong with the draft before: claims that no fact proves.
        """


class Writer(Protocol):
    """Writes a text out of the facts alone: an explanation, a summary, a table, or one section of a report."""

    def write(
        self,
        inquiry: Inquiry,
        *,
        section: OutlineSection | None = None,
        before: str = "",
        last_attempt: bool = False,
        advice: str = "",
    ) -> Draft:
        """A draft of the form `inquiry.form` with a citation in every sentence or cell, or an abstention.

        `section` is the part of `inquiry.outline` to write, None for the whole text; `before` is the text of the
        sections before it, as it is shown while the model writes. `last_attempt` and `advice` as in Answerer.
        """


class Outliner(Protocol):
    """Plans a report before anything is looked up for it."""

    def outline(self, inquiry: Inquiry) -> tuple[OutlineSection, ...]:
        """The sections in order, at least one, each with what is to be looked up for it."""


class Grader(Protocol):
    """Judges how well texts serve a need, before they are read for facts."""

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """One grade for each text, given as (title, text), in the order given."""


class Rewriter(Protocol):
    """Finds other words for a need whose search brought too little."""

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        """Queries for the corpus that differ from those in `tried`."""

    def web_query(self, need: Need) -> str:
        """The need as a query for a web search engine: a few words, in one line."""


class Planner(Protocol):
    """Plans the look-ups of a question, and revises the plan after each of them (strategy `plan`)."""

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """The steps that are left, given what was found and tried; no steps once the question can be answered.

        `before` is the plan so far, None for the first.
        """


class Reflector(Protocol):
    """Checks a draft after answering: is each claim proved, and does it answer the question?"""

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Every claim of an answered draft with its verdict; `Claim.facts` are positions in `inquiry.facts`."""


class ToolAgent(Protocol):
    """Drives the strategy `agent`: it decides which tools to use, and when to answer."""

    def act(self, view: AgentView) -> tuple[ToolCall, ...]:
        """The calls of the next turn, at least one, in the order in which the model made them."""

    def draft(
        self, submitted: SubmitCall, inquiry: Inquiry, places: Sequence[Sequence[int]], done: Sequence[Computation]
    ) -> Draft:
        """What was submitted, as a draft. `places` are the positions in `inquiry.facts` of the facts that a marker [n]
        may mean, in the order of their numbers; none for a quote that was refused. `done` is what was computed."""


class Recaller(Protocol):
    """Answers without any document (baseline `closed-book`): it measures what a corpus adds."""

    def recall(self, question: str) -> Draft:
        """An answer from what the model learnt in training, or an abstention; it cites nothing."""


class FollowUpReader(Protocol):
    """Understands a follow-up of a conversation ("and when did he die?")."""

    def understand(self, follow_up: str, earlier: Earlier) -> FollowUpReading:
        """The question that it stands for, which can be understood alone, with an answer to it where the earlier facts
        hold one; or Unclear. It is never guessed what may be meant."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of one run, bound to its budget.

    `reflector` is None for a backend whose claims are checked by rules alone, `recaller` for one that knows nothing
    without documents, `agent` for one that cannot use tools, `joint_analyst` where rephraser and analyst are asked one
    after the other, `follow_up` for one that takes every question as it is, `writer` and `outliner` for one that writes
    no texts.
    """

    analyst: Analyst
    extractor: Extractor
    rephraser: Rephraser
    answerer: Answerer
    grader: Grader
    rewriter: Rewriter
    planner: Planner
    reflector: Reflector | None = None
    recaller: Recaller | None = None
    agent: ToolAgent | None = None
    joint_analyst: JointAnalyst | None = None
    follow_up: FollowUpReader | None = None
    writer: Writer | None = None
    outliner: Outliner | None = None
    confirmers: tuple[Confirmer, ...] = ()


@dataclass(frozen=True, slots=True)
class BackendTraits:
    """What an engine has to know of who plays the roles; the values by default are those of an LLM.

    `calls_cost`: a call takes time or money, so only what is still open is read, and few texts are graded. `own_words`:
    needs and answers are worded freely, so that other needs may follow a search in vain, and an answer may say more
    than its facts. `thorough`: what it does not find in a text is not there. `languages` are those that it understands,
    () for all. With `reads_better`, the built-in reader's doubts refuse nothing. One call has room for texts of
    `call_chars` characters, and `calls_at_once` are worked on at a time; None where that is not known.
    """

    calls_cost: bool = True
    own_words: bool = True
    thorough: bool = True
    languages: tuple[str, ...] = ()
    reads_better: bool = False
    call_chars: int | None = None
    calls_at_once: int | None = None


class Backend(Protocol):
    """The backend that plays the roles: one or two LLMs, or the built-in models. Serves several runs at once."""

    @property
    def name(self) -> str:
        """Shown in answers and traces, and part of cache keys."""

    @property
    def traits(self) -> BackendTraits:
        """What an engine has to know of it."""

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        """The roles of one run, which may take names and languages from its corpus. Every call that they make is
        reported to `budget`."""
