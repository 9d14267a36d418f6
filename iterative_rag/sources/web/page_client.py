"""Fetches pages and files from the web within limits: public hosts only, bounded size and time, a contact named;
retries with growing pauses, or the pause that the server asks for."""

from __future__ import annotations

import contextlib
import random
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from iterative_rag.errors import AddressRefused, FetchError, UsageError
from iterative_rag.remote.server_calls import pause_asked_for

if TYPE_CHECKING:
    import httpcore

    from iterative_rag.sources.web.transport import Resolve

ROBOT = "iterative-rag"  # our name in a robots.txt
_HINT = "Give a mail address or a web page of yours: --contact you@example.org"
_CONTACT = re.compile(r"https?://[^\s()]+|[^\s()@]+@[^\s()@]+")


def user_agent(contact: str, *, required: bool = True) -> str:
    """The User-Agent header. Raises UsageError where `contact` is missing, or neither a mail address nor a URL."""
    import httpx

    from iterative_rag import __version__

    contact = contact.strip()
    if required and not contact:
        raise UsageError("Wikipedia asks robots to name a contact.", hint=_HINT)
    if contact and not _CONTACT.fullmatch(contact):
        raise UsageError(f"{contact!r} is neither a mail address nor a URL.", hint=_HINT)
    named = f" ({contact})" if contact else ""
    return f"{ROBOT}/{__version__}{named} httpx/{httpx.__version__}"


MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
SECONDS = 120.0  # for one request with all its redirects: connecting, headers and body
CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0  # between two parts of a reply


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A server's reply, whatever its status. `url` is where the redirects ended; header names are lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def busy(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status == 429 or self.status >= 500

    @property
    def retry_after(self) -> float | None:
        """The pause in seconds that the server asks for."""
        return pause_asked_for(self.headers)


def status_error(reply: PageResponse, hints: Mapping[int, str], server: str = "", hint: str = "") -> FetchError:
    """The error for a status that is not a page. `hints` say what to do about a status, `hint` about any other."""
    return FetchError(
        f"{server or reply.url.partition('?')[0]} answered with status {reply.status}.",
        hint=hints.get(reply.status, hint or ("Try again later." if reply.busy else "")),
        retryable=reply.busy,
        retry_after=reply.retry_after if reply.busy else None,
        status=reply.status,
    )


@contextlib.contextmanager
def fetch_errors(server: str, seconds: float, hint: str = "Try again later.") -> Iterator[None]:
    """Raises AddressRefused or FetchError instead of httpx's errors, whose texts may hold a key."""
    import httpx

    from iterative_rag.remote.bounded_body import TooLarge

    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise AddressRefused(f"The address of {server} cannot be fetched: {error}.") from error
    except httpx.TimeoutException as error:
        message = f"{server} did not reply in full within {seconds:g} s."
        raise FetchError(message, hint=hint, retryable=True) from error
    except httpx.ConnectError as error:
        message = f"{server} cannot be reached: {error}."
        raise FetchError(message, hint="Check the network and the address.", retryable=True) from error
    except TooLarge as error:
        raise FetchError(f"The reply of {server} is too large: {error}.", hint="Give another address.") from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        message = f"{server} broke off its reply ({type(error).__name__})."
        raise FetchError(message, hint=hint, retryable=True) from error


class Web(contextlib.AbstractContextManager["Web"]):
    """A client for one run; usable from several threads. See PublicTransport for `allow`, which only code can set.
    Proxies of the environment are not used: a proxy may reach another address than the one that was checked."""

    def __init__(
        self,
        user_agent: str,
        *,
        allow: Collection[str] = (),
        resolve: Resolve | None = None,
        sockets: httpcore.NetworkBackend | None = None,
        max_bytes: int = MAX_BYTES,
        seconds: float = SECONDS,
    ) -> None:
        import httpx

        from iterative_rag.sources.web.transport import Deadline, PublicTransport

        self.max_bytes = max_bytes
        self.seconds = seconds
        self._deadline = Deadline()
        self._client = httpx.Client(
            transport=PublicTransport(self._deadline, allow=allow, resolve=resolve, sockets=sockets),
            headers={"User-Agent": user_agent, "Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(min(READ_SECONDS, seconds), connect=min(CONNECT_SECONDS, seconds)),
            trust_env=False,
        )

    def get(self, url: str, params: Mapping[str, str] | None = None) -> PageResponse:
        """Raises AddressRefused, or FetchError (retryable where the same call may succeed later)."""
        from iterative_rag.remote.bounded_body import BoundedBody

        self._deadline.start(self.seconds)
        with fetch_errors(_host(url), self.seconds):
            request = self._client.build_request("GET", url, params=params)
            for _ in range(MAX_REDIRECTS + 1):
                # The body of a redirect is never read: nothing bounds it.
                with contextlib.closing(self._client.send(request, stream=True)) as response:
                    if response.next_request is None:
                        encoding = response.headers.get("content-encoding", "")
                        # As it arrives: buffering would wait for more. A small reply can hold a large body.
                        body = b"".join(BoundedBody(response.iter_raw(), self._deadline.at, encoding, self.max_bytes))
                        return PageResponse(str(response.url), response.status_code, dict(response.headers), body)
                    request = response.next_request
        raise FetchError(f"{url} is redirected more than {MAX_REDIRECTS} times.")

    def __exit__(self, *_: object) -> None:
        self._client.close()


def is_fetchable(url: str) -> bool:
    """Whether this is an http or https address with a host; whether that is public shows when it is fetched."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0  # or a ValueError
    except ValueError:
        return False


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or url
    except ValueError:
        return url


T = TypeVar("T")

FIRST_PAUSE = 1.0


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """For one server, usable from several threads. `on_pause` gets each pause in seconds and its reason, on any thread.
    `sleep` is for tests, which need not wait."""

    tries: int = 6
    longest_pause: float = 300.0
    on_pause: Callable[[float, FetchError], None] | None = None
    sleep: Callable[[float], object] | None = None
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def stop(self) -> None:
        """End all pauses and fail all calls that wait."""
        self._stopped.set()

    def call(self, attempt: Callable[[], T]) -> T:
        """Call `attempt`, again while it raises a retryable FetchError. Raises the last one."""
        for turn in range(1, self.tries + 1):
            if self._stopped.is_set():
                raise FetchError("Stopped before it was done.", hint="Run the same command again to go on.")
            try:
                return attempt()
            except FetchError as error:
                if not error.retryable or turn == self.tries:
                    raise
                self._pause(error, turn)
        raise AssertionError("unreachable")

    def _pause(self, error: FetchError, turn: int) -> None:
        asked = error.retry_after or 0.0
        if asked > self.longest_pause:
            message = f"{error} It asks for a pause of {asked:,.0f} s."
            raise FetchError(message, hint="Run the same command again after that.", status=error.status) from error
        grown = min(self.longest_pause, FIRST_PAUSE * 2.0 ** (turn - 1) * random.uniform(1.0, 1.25))
        pause = max(grown, asked)  # servers under load ask for 0 s, or for the same few seconds each time
        if self.on_pause:
            self.on_pause(pause, error)
        (self.sleep or self._stopped.wait)(pause)
