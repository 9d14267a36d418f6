"""The seams of the package, on one screen: what may be swapped, and what it must do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from iterative_rag.types import (
    Analysis,
    Document,
    Draft,
    Extract,
    Fact,
    Grade,
    Hit,
    Inquiry,
    Need,
    Plan,
    Reflection,
    Rewording,
    SearchResult,
    Sufficiency,
    Window,
)

if TYPE_CHECKING:  # numpy takes a tenth of a second: a question that the cache answers does without it
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
else:
    Vectors = Any


# --- a language model ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. `role` is the prompt's name (analyse, extract ...), `schema` the JSON schema of the reply.

    `seconds` bounds the call; None leaves it to the model's own timeout.
    """

    role: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    text: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool = False


class ChatModel(Protocol):
    """An LLM. `name` goes into cache keys and traces: it names model and options, never a key."""

    @property
    def name(self) -> str: ...

    def complete(self, request: ChatRequest) -> ChatReply:
        """Raises an LLMError; never returns a text that was cut off."""
        ...


# --- vectors and the corpus ------------------------------------------------------------------


# How the names of encoders begin that travel in the package.
BUILTIN = "builtin/"


class Embedder(Protocol):
    """Texts to unit vectors. `name` is stored in the index, which refuses any other."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), rows of length 1."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,)."""
        ...


class Reranker(Protocol):
    """Reads the best passages of a search, so that its ranking can be fused with those of the index."""

    @property
    def name(self) -> str: ...

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        """How well each (title, text) answers the query, 0 to 1, in their order."""
        ...


class Embedding(Protocol):
    """A batch of texts that is being embedded somewhere."""

    def result(self) -> Vectors:
        """Waits. Raises what the embedder raises."""
        ...

    def done(self) -> bool:
        """Whether `result` would not wait."""
        ...


class EmbeddingEngine(Protocol):
    """Where an index is embedded: beside the caller. `ahead` batches on their way keep it busy."""

    @property
    def ahead(self) -> int: ...

    def submit(self, texts: Sequence[str]) -> Embedding: ...

    def close(self) -> None: ...


class Corpus(Protocol):
    """An indexed corpus, opened for searching and reading. Safe to use from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document does."""
        ...

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank."""
        ...

    def document(self, document_id: str) -> Document: ...

    def close(self) -> None: ...


class DocumentSource(Protocol):
    """Where documents come from: yields them one by one; what cannot be read is yielded as a Skipped."""

    def documents(self) -> Iterable[Document | Skipped]: ...


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that is not a document, and why (one sentence).

    `empty`: it was read, and holds nothing; what it held before is gone.
    `rest_unread`: the source broke off here, so documents that do not come any more have not vanished.
    """

    source: str
    reason: str
    rest_unread: bool = False
    empty: bool = False


# --- the web: asked only where the user allows it ---------------------------------------------


class SearchEngine(Protocol):
    """A web search engine."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """The first `limit` results, best first; none if it knows none. Raises a FetchError."""
        ...


class Pages(Protocol):
    """Reads pages of the web as documents."""

    def read(self, results: Sequence[SearchResult]) -> Iterable[Document | Skipped]:
        """Each page as clean text, `source` its address and `retrieved` the day, or why there is none; in order."""
        ...


# --- the roles of a backend ---------------------------------------------------------------------


class Analyst(Protocol):
    def analyse(self, inquiry: Inquiry) -> Analysis: ...


class Extractor(Protocol):
    """`fingerprint` names the model, prompt and schema version: the cache key of what was extracted."""

    @property
    def fingerprint(self) -> str: ...

    def extract(self, need: Need, window: Window) -> tuple[Extract, ...]: ...


class Rephraser(Protocol):
    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        """The question with what was found put in its place; the same question if nothing fits."""
        ...


class Answerer(Protocol):
    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """`advice` says what was wrong with the draft before: claims that no fact proves."""
        ...


class Grader(Protocol):
    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """How well each (title, text) serves the need, in their order."""
        ...


class Rewriter(Protocol):
    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        """Other ways to search a corpus for the need than those that were `tried`."""
        ...

    def web_query(self, need: Need) -> str:
        """The need as a query for a web search engine: a few words."""
        ...


class Planner(Protocol):
    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """The steps that are left, in the light of all that was found and tried; `before` is the plan so far."""
        ...


class SufficiencyJudge(Protocol):
    def judge(self, inquiry: Inquiry) -> Sufficiency: ...


class Reflector(Protocol):
    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Checks the claims of an answered draft; `Claim.facts` are positions in `Inquiry.facts`."""
        ...


class Recaller(Protocol):
    def recall(self, question: str) -> Draft:
        """An answer out of what the backend has learnt, without any document: what a corpus adds is measured by it."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of one run, already bound to its budget and trace. `recaller` is None for a backend that knows nothing,
    `reflector` for one that checks its claims by rules alone."""

    analyst: Analyst
    extractor: Extractor
    rephraser: Rephraser
    answerer: Answerer
    grader: Grader
    rewriter: Rewriter
    planner: Planner
    judge: SufficiencyJudge
    reflector: Reflector | None = None
    recaller: Recaller | None = None


class CallBudget(Protocol):
    """Counts what a run spends and refuses what it may not spend any more."""

    def before_call(self, role: str) -> float | None:
        """The seconds that are left, or None. Raises CapReached."""
        ...

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None: ...

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None: ...

    def cache_hit(self, what: str) -> None: ...


class Backend(Protocol):
    """Who plays the roles: an LLM, or the built-in reader."""

    @property
    def name(self) -> str: ...

    @property
    def thrifty(self) -> bool:
        """Whether every call costs, so that reading should end as soon as an answer is found."""
        ...

    def roles(self, budget: CallBudget) -> Roles: ...


T = TypeVar("T")


class Cache(Protocol):
    """Values are JSON. A damaged cache misses: it never raises and never changes an answer."""

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of the value. `read` checks it as it would check a model's reply: where it raises
        ValueError the entry is dropped, and None comes back as for one that is not there."""
        ...

    def put(self, key: str, value: Any) -> None: ...

    def close(self) -> None:
        """Let go of files; a later use opens them again."""
        ...
