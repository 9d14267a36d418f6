"""What leaves this machine: announced once for each host, and sent with no key but that of the host."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from iterative_rag.errors import CorpusError, SettingsError
from iterative_rag.remote.hosts import host_and_port, host_of, is_loopback
from iterative_rag.settings import home
from iterative_rag.system import private_json

if TYPE_CHECKING:
    import httpx

TEXTS: Final = "the question and passages"
SEARCH_WORDS: Final = "words of the question"
# The headers that HTTP needs. Client libraries add others: the organisation and the custom headers that the environment
# sets for OpenAI, the platform, and the key of another server.
_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding"}
    | {"user-agent"}
)

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_announced: set[str] = set()


def announce(url: str, what: str = TEXTS) -> None:
    """Log a warning, once and for all, that `what` is sent to the host of `url`, unless that is this machine."""
    host = host_and_port(url)
    with _lock:
        if is_loopback(url) or host in _announced:
            return
        _announced.add(host)
        path = home() / "hosts.json"
        try:
            if host in private_json.read(path):
                return
            _log.warning("Sending %s to %s (first time).", what, host_of(url))
            private_json.update(path, lambda held: held.update({host: datetime.now(UTC).date().isoformat()}))
        except (CorpusError, SettingsError) as error:
            # Announced again next time; no reason to end a run.
            _log.warning("Sending %s to %s (not remembered: %s).", what, host_of(url), error)


def signer(url: str, key: str, what: str, *, own_headers: bool) -> Callable[[httpx.Request], None]:
    """A request hook for an httpx client of `url`: it adds `key` for that host alone and removes other headers.

    `own_headers`: keep the headers of the client library for that host.
    """
    home_host = host_and_port(url)

    def sign(request: httpx.Request) -> None:
        here = host_and_port(str(request.url)) == home_host
        for name in list(request.headers):
            if name == "authorization" or (name not in _HEADERS and not (own_headers and here)):
                del request.headers[name]
        if key and here:
            request.headers["Authorization"] = f"Bearer {key}"
        announce(str(request.url), what)

    return sign
