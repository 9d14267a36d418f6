"""Every error of the package, named by who must act: the caller, whoever keeps the corpus, or whoever runs the model.

No message ever contains an API key.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
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
    """A question, an option or a setting is not valid."""

    exit_code = 2


class SettingsError(UsageError):
    """A key or a value of a settings file or of the environment is wrong."""


class MissingExtra(UsageError):
    """Packages are not installed: those of `extra`, the name of optional dependencies."""

    def __init__(self, extra: str) -> None:
        told = f"This needs packages that are not installed: the extra {extra!r}."
        super().__init__(told, hint=install_command(extra))
        self.extra = extra


class FollowUpUnclear(UsageError):
    """A follow-up that cannot be understood: the full question has to be asked."""


class ComputeError(UsageError):
    """An expression is malformed or too large. The message tells its author what to write; it never ends a run."""


class ServerBusy(IterativeRAGError):
    """The server of this package has as many runs as it takes."""

    exit_code = 6
    retryable = True


class CorpusError(IterativeRAGError):
    """The corpus or its index cannot be used."""

    exit_code = 4


class CorpusNotFound(CorpusError):
    """There is no corpus of that name."""


class NothingWithin(CorpusError):
    """No passage of a corpus is within the part that was asked for, so nothing was searched."""


class CorpusHeld(CorpusError):
    """Another process writes the corpus."""

    retryable = True


class CorpusMismatch(CorpusError):
    """The corpus was made by another embedder or another version."""


class CorpusDamaged(CorpusError):
    """Files of the corpus can no longer be read."""


class DiskFull(CorpusError):
    """There is no space to write to; what was written before is intact."""


class StoreError(CorpusError):
    """A Qdrant server that keeps the vectors of a corpus failed."""


class StoreUnreachable(StoreError):
    """No server is there, or it gave no reply in time."""

    retryable = True


class StoreMissing(StoreError):
    """The server does not hold the vectors of the corpus."""


class FetchError(CorpusError):
    """A page or file of the web cannot be fetched. `retry_after` is the pause in seconds that the server asked for;
    `status` its HTTP status, if it gave one."""

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
    """An address is not http(s) to a public host, but to this machine, the own network, or by another scheme."""


class EmbedderError(IterativeRAGError):
    """The embedder failed."""

    exit_code = 5


class WeightsError(IterativeRAGError):
    """The files of a built-in model are missing or damaged."""

    exit_code = 5


class LLMError(IterativeRAGError):
    """The language model or its server failed. `fatal`: every other call would fail as well, because the server, the
    model or the key is missing; any other error concerns this call alone. `most_retries` bounds how often it is made
    again; None: as set.
    """

    exit_code = 5
    fatal = False
    most_retries: int | None = None


class LLMUnreachable(LLMError):
    """No server is there."""

    retryable = True
    fatal = True


class ModelMissing(LLMError):
    """The server does not have the model."""

    fatal = True


class LLMTimeout(LLMError):
    """There was no reply in time."""

    retryable = True


class CallSuperseded(LLMError):
    """Nobody waits for the reply any more; it never reaches the caller."""


class LLMServerError(LLMError):
    """A 4xx or 5xx. `status` is the HTTP status, or -1 for an error in the middle of a stream."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retryable = status in (-1, 429) or status >= 500
        self.fatal = status in (401, 402, 403, 404)


class ContextOverflow(LLMServerError):
    """The request is longer than the context of the model: a shorter one may go through, the same one never does."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, status=status, hint=hint)
        self.retryable = False


class ReplyTruncated(LLMError):
    """The stream ended before it was done."""

    retryable = True


class ReplyUnreadable(LLMError):
    """The reply could not be parsed, even after one retry. `reply` is the model's last text; `usage` is what the failed
    attempts cost."""

    def __init__(self, message: str, *, reply: str, usage: Usage | None = None, hint: str = "") -> None:
        from iterative_rag.types import Usage

        super().__init__(message, hint=hint)
        self.reply = reply
        self.usage = usage or Usage()


class CapReached(IterativeRAGError):
    """Raised by the budget before a call that would exceed a limit of the run, which ends with an incomplete answer."""

    exit_code = 6

    def __init__(self, cap: Cap, limit: float) -> None:
        super().__init__(f"The run reached its limit of {limit:g} {cap.value}.")
        self.cap = cap
        self.limit = limit


# --- how this installation is extended ------------------------------------------------------------


def install_command(extra: str) -> str:
    """The command that installs the extra where this process finds it: a `pip` on the PATH may be that of another
    environment, and one made by uv has none."""
    prefix, checkout = Path(sys.prefix), Path(__file__).resolve().parents[1]
    quickstart = checkout / "scripts" / "quickstart"
    if prefix == checkout / ".venv" and quickstart.exists():
        near = quickstart.is_relative_to(Path.cwd())
        typed = f"./{quickstart.relative_to(Path.cwd())}" if near else shlex.quote(str(quickstart))
        return f"{typed} --extra {extra}"
    wanted = f"'iterative-rag[{extra}]'"
    python = shlex.quote(sys.executable)
    if not find_spec("pip"):
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m pip install {wanted}"
