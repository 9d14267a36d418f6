"""Every error of the package, named by who must act.

IterativeRAGError
├── UsageError           the caller: a question, an option or a setting cannot be right   (exit 2)
│   ├── SettingsError    a key or value of the settings file or the environment
│   └── MissingExtra     packages that an optional part of this one needs
├── CorpusError          the corpus or its index                                          (exit 4)
│   ├── CorpusNotFound   no corpus of that name
│   ├── CorpusHeld       another process writes the corpus
│   ├── CorpusMismatch   made by another embedder or another version
│   ├── CorpusDamaged    files that cannot be read any more
│   ├── DiskFull         no room for what is to be written; what was written before is whole
│   ├── StoreError       a Qdrant server that keeps the vectors of a corpus
│   │   ├── StoreUnreachable no server there, or none that replies in time
│   │   ├── StoreRefused     a key that is missing or wrong
│   │   └── StoreMissing     the server does not have the corpus's vectors
│   └── FetchError       a page or file of the web that is not to be had
│       └── AddressRefused   an address that is not http(s) to a public host
├── EmbedderError        the embedder                                                     (exit 5)
├── WeightsError         the files of a built-in model: missing, damaged, not ours        (exit 5)
├── LLMError             the language model or its server                                 (exit 5)
│   ├── LLMUnreachable   no server there
│   ├── ModelMissing     the server does not have the model
│   ├── LLMTimeout       no reply in time
│   ├── LLMServerError   a 4xx or 5xx, or an error in the stream
│   ├── ReplyTruncated   the stream ended before it was done
│   └── ReplyUnreadable  a reply that is not what was asked for, in every form
└── CapReached           a limit of the run (the engine turns it into an incomplete answer)  (exit 6)

`message` is one sentence; `hint` is what to type or do next. `retryable` says whether the same call
may go through later. No message ever holds an API key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command imports this, --help too: the types would double what that costs
    from iterative_rag.types import Cap, Usage


class IterativeRAGError(Exception):
    """The root. `str(error)` is the message; the hint is kept apart so that doors can show both."""

    exit_code = 1
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(IterativeRAGError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class MissingExtra(UsageError):
    """`extra` is the name of the optional dependencies that have to be installed."""

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"This needs packages that are not installed: the extra {extra!r}.",
            hint=f"pip install 'iterative-rag[{extra}]'",
        )
        self.extra = extra


class CorpusError(IterativeRAGError):
    exit_code = 4


class CorpusNotFound(CorpusError):
    pass


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


class StoreRefused(StoreError):
    pass


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


class EmbedderError(IterativeRAGError):
    exit_code = 5


class WeightsError(IterativeRAGError):
    exit_code = 5


class LLMError(IterativeRAGError):
    """`fatal` says that every other call would fail as well: nobody is there, the model or the key is missing. Any
    other error of a call concerns what was asked in it."""

    exit_code = 5
    fatal = False


class LLMUnreachable(LLMError):
    retryable = True
    fatal = True


class ModelMissing(LLMError):
    fatal = True


class LLMTimeout(LLMError):
    retryable = True


class LLMServerError(LLMError):
    """`status` is the HTTP status, or -1 for an error inside a stream: the server broke off what it had begun."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retryable = status in (-1, 429) or status >= 500
        self.fatal = status in (401, 403, 404)


class ReplyTruncated(LLMError):
    retryable = True


class ReplyUnreadable(LLMError):
    """`reply` is the model's last text; `usage` what the attempts cost all the same."""

    def __init__(self, message: str, *, reply: str, usage: Usage | None = None, hint: str = "") -> None:
        from iterative_rag.types import Usage

        super().__init__(message, hint=hint)
        self.reply = reply
        self.usage = usage or Usage()


class CapReached(IterativeRAGError):
    """Raised by the meter before a call that the run may not make any more."""

    exit_code = 6

    def __init__(self, cap: Cap, limit: float) -> None:
        super().__init__(f"The run reached its limit of {limit:g} {cap.value}.")
        self.cap = cap
        self.limit = limit
