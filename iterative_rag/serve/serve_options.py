"""How the server was started: its address, its token, and the limits that no request can raise."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from iterative_rag.errors import UsageError

DEFAULT_PORT = 8372
# A token that is guessed over the network must not be a word.
SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """`corpora` are those that are served, () for all; the first is the default, and may be several (a,b).
    `token` is "" where none is needed, on loopback only.

    `allow_hosts` are names under which the server is reached besides its address, as behind a reverse proxy.
    `behind_tls`: browsers reach the server over https, by a proxy that ends TLS. `read_only` hides what changes state.
    A run ends `grace_seconds` after the last client that watched it has gone.
    The head of a request has to arrive within `head_seconds`, its body within `body_seconds` more.
    `kept_runs` finished runs keep their events in memory; older ones are read from their traces.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str = ""
    read_only: bool = False
    behind_tls: bool = False
    corpora: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    runs_at_once: int = 2
    queue: int = 32
    runs_per_client: int = 8
    grace_seconds: float = 30.0
    kept_runs: int = 100
    body_bytes: int = 1_000_000
    head_seconds: float = 10.0
    body_seconds: float = 10.0
    requests_per_client: int = 64

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def checked(self) -> ServeOptions:
        """Itself. Raises UsageError for a token that could be guessed, and for an open address without one."""
        if self.token and len(self.token) < SHORTEST_TOKEN:
            raise UsageError(
                f"The token has {len(self.token)} characters; at least {SHORTEST_TOKEN} are needed.",
                hint="Leave it out and one is made, or: openssl rand -hex 32",
            )
        if not self.token.isascii() or not self.token.isprintable():
            raise UsageError("The token may hold printable ASCII only.", hint="For example: openssl rand -hex 32")
        if not self.on_loopback and not self.token:
            raise UsageError(
                f"The address {self.host} can be reached from other machines, so a token is needed.",
                hint="Set ITERATIVE_RAG_TOKEN, or leave out --host.",
            )
        return self
