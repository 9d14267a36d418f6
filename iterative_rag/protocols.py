"""What can be replaced, and what a replacement has to do.

A class implements a protocol by having its methods; it need not inherit from it. Errors are those of `errors`: an
implementation raises one of them instead of returning an empty result, and lets no exception of a library through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from iterative_rag.types import (
    AgentView,
    Analysis,
    Computation,
    Continuation,
    Document,
    Draft,
    Earlier,
    Extract,
    Fact,
    FollowUpReading,
    Grade,
    Hit,
    Inquiry,
    Need,
    OutlineSection,
    Plan,
    Reflection,
    Rewording,
    SearchResult,
    Sentence,
    SubmitCall,
    ToolCall,
    Window,
)

if TYPE_CHECKING:  # numpy takes a tenth of a second: a question that the cache answers does without it
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
else:
    Vectors = Any

# --- where documents come from and are found: sources, corpora, the web where the user allows it ---


class Corpus(Protocol):
    """An indexed corpus, opened for searching and reading. Called from several threads at once.

    Every method may raise CorpusError. What `search` finds can be read by `document` as long as the corpus is open.
    """

    @property
    def name(self) -> str:
        """The name that the user gave it, shown in answers and traces."""

    @property
    def fingerprint(self) -> str:
        """Differs after any document was added, changed or removed."""

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """For each query at most `limit` passages, best first: dense vectors and BM25, fused by reciprocal rank."""

    def document(self, document_id: str) -> Document:
        """The whole document. Raises CorpusError if there is none of that id."""

    def close(self) -> None:
        """Closes files and connections. The corpus is not used after it."""


# The root of documents that a Python program gave: there is no file or folder to read them from again.
GIVEN = "python:documents"


class DocumentSource(Protocol):
    """Where the documents of an index come from: a folder, a dump, a list of pages."""

    @property
    def root(self) -> str:
        """Identifies the source in the index: its documents that are no longer yielded are removed."""

    @property
    def total(self) -> int | None:
        """An upper bound of the number of documents, if known in advance."""

    def documents(self) -> Iterable[Document | Skipped]:
        """Every document, one at a time, so that a source larger than memory can be read.

        A file that cannot be read is yielded as a Skipped and does not end the iteration. Raises CorpusError where the
        source itself cannot be opened.
        """


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that was not read as a document; `reason` says why, in one sentence.

    `empty`: it was read and holds nothing, so what it held before is removed from the index. `rest_unread`: the source
    broke off here, so documents that are missing after it are kept in the index. `unread`: it could not be opened, so
    what the index holds of it, or of what lies in it, stays. `extra`: the optional dependencies that would read it.
    """

    source: str
    reason: str
    rest_unread: bool = False
    unread: bool = False
    empty: bool = False
    extra: str = ""


class SearchEngine(Protocol):
    """A web search engine. Called from several threads at once; it returns addresses and reads no page."""

    @property
    def name(self) -> str:
        """Shown in answers, steps and traces, with the address of the server where the user chose one."""

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """At most `limit` results, best first; empty only if the engine found nothing. Raises FetchError."""


class Pages(Protocol):
    """Fetches web pages and turns them into documents. It may read public http(s) addresses only."""

    def read(self, results: Sequence[SearchResult]) -> Iterable[Document | Skipped]:
        """One item for each result, in their order: the page as clean text, or a Skipped that says why not.

        `Document.source` is the address and `Document.retrieved` the day (ISO) on which it was read.
        """


# --- models, what counts their calls, and the cache of what they said -----------------------------


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """A function that a reply may call. `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function in a reply, as the model wrote it: neither name nor arguments are checked."""

    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of an LLM.

    `role` is the name of the prompt (analyse, extract ...), as traces show it. `schema` is the JSON schema that the
    reply has to follow; None asks for plain text. `max_tokens` bounds the reply. `seconds` bounds the whole call; None
    leaves it to the model's own timeout. `functions` may be called instead of writing JSON; a model without function
    calling leaves them aside and follows `schema`. A model that streams calls `written` with the reply as far as it has
    come; it begins anew where the call is made again. `written` must return at once. `broken`: the reply to the same
    request before broke the form.
    """

    role: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    seconds: float | None = None
    functions: tuple[FunctionSpec, ...] = ()
    written: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    broken: bool = False


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply to one call, complete, with the tokens that the server counted.

    `calls` are those of the functions of the request, in their order; `text` may then be "". `thought`: the model wrote
    thoughts before its reply.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[FunctionCall, ...] = ()
    thought: bool = False


class ChatModel(Protocol):
    """An LLM behind one kind of server. Called from several threads at once.

    The implementation retries what may pass; an error that it raises ends the call.
    """

    @property
    def name(self) -> str:
        """Model and options, as they go into cache keys and traces. Never contains a key or a password."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """The whole reply. Raises LLMError: unreachable, timed out, refused, or cut off before its end."""


class CallBudget(Protocol):
    """Counts what a run spends and enforces its limits. Called from several threads at once."""

    def before_call(self, role: str) -> float | None:
        """Counts a call that is about to start; the seconds it may take, or None for no bound. Raises CapReached."""

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None:
        """A call that brought a reply after `seconds`; `model` is `ChatModel.name`."""

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None:
        """A call that ended in an error after `seconds`."""

    def cache_hit(self, what: str) -> None:
        """A call that was not made because the cache had its result; `what` is the role."""


# The names of the encoders in the package begin with this.
BUILTIN = "builtin/"


class Embedder(Protocol):
    """Turns texts into unit vectors, the same vector for the same text. Called from several threads at once.

    Both methods raise EmbedderError.
    """

    @property
    def name(self) -> str:
        """Model and options. It is stored in the index, which opens with an embedder of the same name only."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimensions), each row of Euclidean length 1, in the order of the texts."""

    def embed_query(self, text: str) -> Vectors:
        """float32 of shape (dimensions,) and length 1. Models with a query prefix add it here."""


class Reranker(Protocol):
    """Scores the best passages of a search; the ranking by these scores is fused with those of the index."""

    @property
    def name(self) -> str:
        """Model and options, as they go into cache keys."""

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        """How well each passage, given as (title, text), answers the query: from 0 to 1, in the order given."""


class QuoteReader(Protocol):
    """Reads single quotes, as a second pair of eyes beside the extractor. It understands English alone."""

    def chance(self, need: str, value: str, title: str, quote: str) -> float:
        """How likely a quote of a document with this title answers the need with the value: from 0 to 1."""


# Says of a new fact, with the text of its document, whether its quote bears it out: the fact with its `support`, and
# with its score where the quote speaks against it.
FactCheck: TypeAlias = Callable[[Fact, str], Fact]


T = TypeVar("T")


class Cache(Protocol):
    """Keeps replies and extractions between runs. Used by several threads and processes at once.

    Values are JSON. Reading and writing never raise: a damaged or full cache behaves as one without the entry.
    """

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        """`read` applied to the stored value; None if there is no entry.

        A stored value is untrusted input, so `read` validates it. If it raises ValueError, the entry is removed and the
        result is None.
        """

    def put(self, key: str, value: Any) -> None:
        """Stores a JSON value, in place of one with the same key."""

    def close(self) -> None:
        """Closes the files; the next use opens them again."""


# --- the roles of a backend ------------------------------------------------------------------------

# Each role raises LLMError where its model fails and CapReached at a limit of the run. It keeps no state between calls:
# everything it may use stands in its arguments.


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
