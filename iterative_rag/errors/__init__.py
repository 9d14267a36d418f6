"""Every error of the package, named by who must act.

IterativeRAGError
├── UsageError           the caller: a question, an option or a setting is not valid      (exit 2)
│   ├── SettingsError    a key or value of the settings file or the environment
│   ├── MissingExtra     an optional part needs packages that are not installed
│   ├── FollowUpUnclear  a question that cannot be understood from the conversation before it
│   └── ComputeError     an expression that cannot be computed; never ends a run
├── ServerBusy           the server of this package has as many runs as it takes          (exit 6)
├── CorpusError          the corpus or its index                                          (exit 4)
│   ├── CorpusNotFound   no corpus of that name
│   ├── NothingWithin    no passage is in the part of the corpus that was asked
│   ├── CorpusHeld       another process writes the corpus
│   ├── CorpusMismatch   made by another embedder or another version
│   ├── CorpusDamaged    files that can no longer be read
│   ├── DiskFull         no space to write to; what was written before is intact
│   ├── StoreError       a Qdrant server that keeps the vectors of a corpus
│   │   ├── StoreUnreachable no server there, or no reply in time
│   │   └── StoreMissing     the server does not hold the vectors of the corpus
│   └── FetchError       a page or file of the web that cannot be fetched
│       └── AddressRefused   an address that is not http(s) to a public host
│           └── HostNotPublic    a host of one's own network, or of this machine
├── EmbedderError        the embedder                                                     (exit 5)
├── WeightsError         the files of a built-in model are missing or damaged             (exit 5)
├── LLMError             the language model or its server                                 (exit 5)
│   ├── LLMUnreachable   no server there
│   ├── ModelMissing     the server does not have the model
│   ├── LLMTimeout       no reply in time
│   ├── LLMServerError   a 4xx or 5xx, or an error in the stream
│   │   └── ContextOverflow  a request that is longer than the context of the model
│   ├── CallSuperseded   nobody waits for the reply any more; never reaches the caller
│   ├── ReplyTruncated   the stream ended before it was done
│   └── ReplyUnreadable  the reply could not be parsed, even after one retry
└── CapReached           a limit of the run; the engine ends with an incomplete answer    (exit 6)

`message` is one sentence; `hint` is what to type or do next. `retryable` says whether the same call may succeed later.
No message ever contains an API key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command imports this, --help too: the types would double what that costs
    from iterative_rag.types import Cap, Usage


class IterativeRAGError(Exception):
    """The base of all errors of the package. `str(error)` is the message, one sentence; `hint` is what to do next.

    `exit_code` is that of the command line; `retryable` says whether the same call may succeed later.
    """

    exit_code = 1
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(IterativeRAGError):
    """`option` is all that the same command lacks; the command line puts the whole command in its place in the hint."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", option: str = "") -> None:
        super().__init__(message, hint=hint)
        self.option = option


class SettingsError(UsageError):
    pass


class MissingExtra(UsageError):
    """`extra` is the name of the optional dependencies that have to be installed."""

    def __init__(self, extra: str) -> None:
        from iterative_rag.errors.installation import install_command

        super().__init__(
            f"This needs packages that are not installed: the extra {extra!r}.",
            hint=install_command(extra),
        )
        self.extra = extra


class FollowUpUnclear(UsageError):
    """A follow-up that cannot be understood: the full question has to be asked."""


class ComputeError(UsageError):
    """An expression is malformed or too large. The message tells its author what to write; it never ends a run."""


class ServerBusy(IterativeRAGError):
    exit_code = 6
    retryable = True


class CorpusError(IterativeRAGError):
    exit_code = 4


class CorpusNotFound(CorpusError):
    pass


class NothingWithin(CorpusError):
    """No passage of a corpus is within the part that was asked for, so nothing was searched."""


class CorpusHeld(CorpusError):
    retryable = True


class CorpusMismatch(CorpusError):
    pass


class CorpusDamaged(CorpusError):
    pass


class DiskFull(CorpusError):
    pass


class StoreError(CorpusError):
    pass


class StoreUnreachable(StoreError):
    retryable = True


class StoreMissing(StoreError):
    pass


class FetchError(CorpusError):
    """`retry_after` is the pause in seconds that the server asked for; `status` its HTTP status, if it gave one."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status


class AddressRefused(FetchError):
    pass


class HostNotPublic(AddressRefused):
    pass


class EmbedderError(IterativeRAGError):
    exit_code = 5


class WeightsError(IterativeRAGError):
    exit_code = 5


class LLMError(IterativeRAGError):
    """`fatal`: every other call would fail as well, because the server, the model or the key is missing.

    Any other error concerns this call alone. `most_retries` bounds how often it is made again; None: as set.
    """

    exit_code = 5
    fatal = False
    most_retries: int | None = None


class LLMUnreachable(LLMError):
    retryable = True
    fatal = True


class ModelMissing(LLMError):
    fatal = True


class LLMTimeout(LLMError):
    retryable = True


class CallSuperseded(LLMError):
    """Nobody waits for the reply any more."""


class LLMServerError(LLMError):
    """`status` is the HTTP status, or -1 for an error in the middle of a stream."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retryable = status in (-1, 429) or status >= 500
        self.fatal = status in (401, 402, 403, 404)


class ContextOverflow(LLMServerError):
    """A shorter request may go through; the same one never does."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, status=status, hint=hint)
        self.retryable = False


class ReplyTruncated(LLMError):
    retryable = True


class ReplyUnreadable(LLMError):
    """`reply` is the model's last text; `usage` is what the failed attempts cost."""

    def __init__(self, message: str, *, reply: str, usage: Usage | None = None, hint: str = "") -> None:
        from iterative_rag.types import Usage

        super().__init__(message, hint=hint)
        self.reply = reply
        self.usage = usage or Usage()


class CapReached(IterativeRAGError):
    """Raised by the budget before a call that would exceed a limit of the run."""

    exit_code = 6

    def __init__(self, cap: Cap, limit: float) -> None:
        super().__init__(f"The run reached its limit of {limit:g} {cap.value}.")
        self.cap = cap
        self.limit = limit
