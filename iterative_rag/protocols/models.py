"""Models and what counts their calls: chat models, embedders, rerankers; the cache of what they said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from iterative_rag.types import Fact

if TYPE_CHECKING:  # numpy takes a tenth of a second: a question that the cache answers does without it
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
else:
    Vectors = Any


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
