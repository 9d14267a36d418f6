"""What leaves the machine: told once for each host, and signed with nothing but the key of that host."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from iterative_rag.errors import SettingsError
from iterative_rag.remote.hosts import host_and_port, host_of, is_loopback
from iterative_rag.settings import home
from iterative_rag.system import private_json

if TYPE_CHECKING:
    import httpx

TEXTS: Final = "the question and passages"
SEARCH_WORDS: Final = "words of the question"
# What HTTP itself needs. Client libraries add more of their own accord: the organisation and the custom headers that
# the environment names for OpenAI, the platform, and the key of another server.
_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding"}
    | {"user-agent"}
)

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_told: set[str] = set()


def announce(url: str, what: str = TEXTS) -> None:
    """Tell, the first time ever, that `what` goes to the host of `url`; this machine is not worth a word."""
    host = host_and_port(url)
    with _lock:
        if is_loopback(url) or host in _told:
            return
        _told.add(host)
        path = home() / "hosts.json"
        try:
            if host in private_json.read(path):
                return
            _log.warning("Sending %s to %s (first time).", what, host_of(url))
            private_json.update(path, lambda held: held.update({host: datetime.now(UTC).date().isoformat()}))
        except (OSError, SettingsError) as error:
            # It may be told again, which is better than not at all, and no reason to end a run.
            _log.warning("Sending %s to %s (not remembered: %s).", what, host_of(url), error)


def signing(url: str, key: str, what: str, *, own_headers: bool) -> Callable[[httpx.Request], None]:
    """A hook of an httpx client that sends to `url`: `key` is in no other header and goes to no other host.

    `own_headers`: the headers of the client library may go out as well.
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
